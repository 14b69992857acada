//@ command = "nearmiss reach printed_never.c:10 --function f"
//@ verdict = "infeasible"
#include <stdio.h>
#include <string.h>
int f(signed char x)
{
    char text[32];
    int length = sprintf(text, "%d", x);
    if (length > 4 || strchr(text + 1, '-'))
        return 1;
    return 0;
}
