//@ command = "nearmiss reach printed_part.c:11 --function f"
//@ verdict = "reached"
#include <stdio.h>
#include <string.h>
/* Of a number that does not fit the first digits are there. */
int f(int x)
{
    char text[4];
    snprintf(text, sizeof text, "%d", x);
    if (strcmp(text, "123") == 0 && x > 1000)
        return 1;
    return 0;
}
