//@ command = "nearmiss explore wide.c --function compare"
//@ paths = 6
#include <stdint.h>

int compare(int64_t a, uint8_t b, unsigned short c, signed char d)
{
    if (a == INT64_MIN)
        return 0;
    if (b > 250 && c == 65535)
        return 1;
    if (a < d)
        return 2;
    return 3;
}
