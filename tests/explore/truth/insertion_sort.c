#include "driver.h"
#include <insertion_sort.c>

void once(void)
{
    int t[4];
    int n = choose(0, 4);
    CHOOSE_ALL(t, n, 0, 4);
    if (!insertion_sort_pre(t, n))
        return;
    begin();
    insertion_sort(t, n);
    end();
}
