//@ command = """nearmiss explore permutation_surjective.c --function permutation_order \
//@   --pre permutation_surjective --oracle check_permutation_order --size p=n --range n=0..4 --range p=-1..4"""
//@ large = "--range n=8..8 --range p=-100..100"
//@ require = ["forall i in 0..n: 0 <= p[i] && p[i] < n", "forall i in 0..n: exists j in 0..n: p[j] == i"]
#include "permutation.h"

// A permutation: something goes to every place.
int permutation_surjective(const int *p, int n)
{
    for (int i = 0; i < n; i++)
        if (p[i] < 0 || p[i] >= n)
            return 0;
    for (int i = 0; i < n; i++) {
        int j = 0;
        while (j < n && p[j] != i)
            j++;
        if (j == n)
            return 0;
    }
    return 1;
}
