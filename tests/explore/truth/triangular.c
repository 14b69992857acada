#include "driver.h"
#include <triangular.c>

void once(void)
{
    int m[3][SIDE] = {0};
    int n = choose(0, 3);
    for (int i = 0; i < n; i++)
        CHOOSE_ALL(m[i], n, -1, 1);
    if (!square_is_zero_pre(n, m))
        return;
    begin();
    square_is_zero(n, m);
    end();
}
