// 32-bit numbers: orders, sums and rotations.
#include "challenge.h"

static uint32_t rotated(uint32_t x, int by) { return x << by | x >> (32 - by); }

static void solve(void)
{
    NEED(u32(0) == 0xcafe1dea);
    NEED(__builtin_bswap32(u32(4)) == 0x00c0ffee);
    NEED((int32_t)u32(8) == -2000000011);
    NEED(u32(12) - u32(8) == 0x10203040);
    NEED(rotated(u32(16), 7) == 0x87654321);
    NEED(u32(20) > 0x7ffffff0 && u32(20) < 0x7ffffff3 && u32(20) % 2);
    NEED((u32(24) ^ u32(20)) == 0x0ff00ff0);
    FOUND();
}
