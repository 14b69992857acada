//@ command = "nearmiss explore calloc.c --function zeros --range n=0..5"
//@ paths = 6
// How many elements is an input, and so is the size: that the product does not overflow is no demand on inputs.
#include <stdlib.h>

int *zeros(int n)
{
    int *t = calloc(n + 1, sizeof *t);
    for (int i = 0; i < n; i++)
        t[i + 1] = t[i] + 1;
    return t;
}
