//@ command = "nearmiss explore size_too_small_first.c --function mark --range n=0..6"
//@ paths = 2
// The first input makes a block that is too small for a constant index: larger ones go on.
#include <stdlib.h>

int mark(int n, int k)
{
    char *block = malloc(n);
    block[4] = 1; //~ error[out-of-bounds-write]
    int is_three = 0;
    if (k == 3)
        is_three = 1;
    free(block);
    return is_three;
}
