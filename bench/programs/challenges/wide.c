// A number of 128 bits.
#include "challenge.h"

static void solve(void)
{
    unsigned __int128 x, y;
    memcpy(&x, in, sizeof x);
    memcpy(&y, in + 16, sizeof y);
    NEED((uint64_t)(x >> 64) == 0x3141592653589793);
    NEED((uint64_t)x == 0x2384626433832795);
    NEED(y - x == (unsigned __int128)0x77 << 90);
    FOUND();
}
