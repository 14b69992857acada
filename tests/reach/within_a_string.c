//@ command = "nearmiss reach within_a_string.c:9 --function f --string s=4"
//@ verdict = "reached"
#include <string.h>

int f(const char *s)
{
    if (strlen(s) == 3)
        if (strcmp(s, "key") == 0)
            return 1;
    return 0;
}
