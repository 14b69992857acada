//@ command = "nearmiss reach printed.c:11 --function f"
//@ verdict = "reached"
#include <stdio.h>
#include <string.h>
/* How long a number is, and whether it has a sign, is decided before its digits are known. */
int f(int x)
{
    char text[32];
    snprintf(text, sizeof text, "<%d>", x);
    if (strcmp(text, "<-317>") == 0)
        return 1;
    return 0;
}
