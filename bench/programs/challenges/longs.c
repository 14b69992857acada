// 64-bit numbers.
#include "challenge.h"

static void solve(void)
{
    NEED(u64(0) == 0x0badf00d0ddba115);
    NEED(__builtin_bswap64(u64(8)) == 0x1122aabb3344ccdd);
    NEED((int64_t)u64(16) < INT64_MIN + 7 && (u64(16) & 7) == 5);
    NEED(u64(24) - u64(16) == 0x8000000000000001);
    NEED((u64(32) >> 5 | u64(32) << 59) == u64(0));
    FOUND();
}
