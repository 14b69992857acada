#include "driver.h"
#include <compare.c>

void once(void)
{
    char a[3], b[3];
    CHOOSE_STRING(a, 2, 64, 98);
    CHOOSE_STRING(b, 2, 64, 98);
    if (!compare_pre(a, b))
        return;
    begin();
    compare(a, b);
    end();
}
