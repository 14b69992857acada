#include "driver.h"
#include <binary_search.c>

void once(void)
{
    int t[4];
    int n = choose(0, 4), key = choose(-1, 5);
    CHOOSE_ALL(t, n, 0, 4);
    if (!binary_search_pre(t, n, key))
        return;
    begin();
    binary_search(t, n, key);
    end();
}
