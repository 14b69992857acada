// 16-bit numbers in both byte orders, signed and not.
#include "challenge.h"

static void solve(void)
{
    NEED(u16(0) == 0xbeaf);
    NEED(__builtin_bswap16(u16(2)) == 0x1d0c);
    NEED((int16_t)u16(4) == -31007);
    NEED(u16(6) > 0xfff0 && u16(6) < 0xfff2);
    NEED((uint16_t)(u16(8) + u16(6)) == 0x1234);
    NEED((uint16_t)(u16(10) ^ 0x55aa) == u16(0));
    NEED((int16_t)u16(12) < -32000 && (u16(12) & 0xff) == 0x21);
    NEED((uint16_t)(u16(14) * 3) == 0x9999);
    FOUND();
}
