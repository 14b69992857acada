//@ command = "nearmiss explore lost_assembly.c --function through"
//@ incomplete = "input data was lost"
#include <stdlib.h>

int through(int x)
{
    int y;
    __asm__("mov %1, %0" : "=r"(y) : "r"(x));
    if (y == 42)
        abort();
    return 0;
}
