// Numbers that are only bounded from both sides, wider and wider apart.
#include "challenge.h"

static void solve(void)
{
    NEED(u32(0) >= 0x11223344 && u32(0) <= 0x11223345);
    NEED(u32(4) > 0xfffffff0);
    NEED((int32_t)u32(8) < -2147480000 && (int32_t)u32(8) > -2147480003);
    NEED(u32(12) < u32(0) && u32(12) + 2 > u32(0));
    NEED(u32(16) >= 77000 && u32(16) - 77000 < 2);
    NEED(u32(20) <= 3 && u32(20) != 0 && u32(20) != 2 && u32(20) != 3);
    FOUND();
}
