//@ command = """nearmiss explore permutation_injective.c --function permutation_order \
//@   --pre permutation_injective --oracle check_permutation_order --size p=n --range n=0..4 --range p=-1..4"""
//@ large = "--range n=8..8 --range p=-100..100"
//@ require = ["forall i in 0..n: 0 <= p[i] && p[i] < n", "forall i in 0..n: forall j in 0..i: p[i] != p[j]"]
#include "permutation.h"

// A permutation: no two go to the same place.
int permutation_injective(const int *p, int n)
{
    for (int i = 0; i < n; i++)
        if (p[i] < 0 || p[i] >= n)
            return 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (p[i] == p[j])
                return 0;
    return 1;
}
