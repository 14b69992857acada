//@ command = "nearmiss reach too_long_a_string.c:9 --function f --string s=4"
//@ verdict = "infeasible"
//@ assumed = ""
#include <string.h>

int f(const char *s)
{
    if (strlen(s) > 4)
        return 1;
    return 0;
}
