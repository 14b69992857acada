//@ command = "nearmiss explore size_walked_out_of.c --function fill --range n=1..4"
//@ paths = 2
// A pointer walks out of a block whose size is input; a larger block would hold it.
#include <stdlib.h>

int fill(int n, int k)
{
    char *block = malloc(n);
    char *end = block;
    for (int i = 0; i < 3; i++)
        *end++ = 1; //~ error[out-of-bounds-write]
    free(block);
    if (k == 3)
        return 1;
    return 0;
}
