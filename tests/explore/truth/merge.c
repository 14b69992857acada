#include "driver.h"
#include <merge.c>

void once(void)
{
    int t1[2], t2[3], t3[5];
    int n1 = choose(0, 2), n2 = choose(0, 3);
    CHOOSE_ALL(t1, n1, 0, 4);
    CHOOSE_ALL(t2, n2, 0, 4);
    if (!merge_pre(t1, n1, t2, n2, t3))
        return;
    begin();
    merge(t1, n1, t2, n2, t3);
    end();
}
