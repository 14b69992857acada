//@ command = "nearmiss reach printed_width.c:12 --function f --range width=0..20"
//@ verdict = "reached"
#include <stdio.h>
#include <string.h>
/* The width is an argument: each value has another layout. */
int f(int width)
{
    char text[32];
    sprintf(text, "%*d", width, 5);
    if (strcmp(text, "       5") == 0)
        /* Eight letters. */
        return 1;
    return 0;
}
