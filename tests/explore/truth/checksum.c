#include "driver.h"
#include <checksum.c>

void once(void)
{
    unsigned char data[1];
    int n = choose(0, 1);
    CHOOSE_ALL(data, n, 0, 255);
    if (!checksum_pre(data, n))
        return;
    begin();
    checksum(data, n);
    end();
}
