//@ command = "nearmiss explore heap.c --function doubled --size t=n --range n=0..2 --range t=-1000..1000"
//@ paths = 7
// Memory of its own, of a size that is input: 1 + 2 + 4.
#include <stdlib.h>

int *doubled(const int *t, int n)
{
    int *copy = malloc((n + 1) * sizeof *copy);
    copy[n] = 0;
    for (int i = 0; i < n; i++) {
        copy[i] = 2 * t[i];
        if (copy[i] < 0)
            copy[n]++;
    }
    return copy;
}
