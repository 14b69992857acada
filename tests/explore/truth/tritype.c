#include "driver.h"
#include <tritype.c>

void once(void)
{
    int a = choose(-1, 6), b = choose(-1, 6), c = choose(-1, 6);
    if (!tritype_pre(a, b, c))
        return;
    begin();
    tritype(a, b, c);
    end();
}
