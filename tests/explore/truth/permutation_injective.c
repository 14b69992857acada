#include "driver.h"
#include <permutation_injective.c>

void once(void)
{
    int p[4];
    int n = choose(0, 4);
    CHOOSE_ALL(p, n, -1, 4);
    if (!permutation_injective(p, n))
        return;
    begin();
    permutation_order(p, n);
    end();
}
