// Numbers of 23 and 51 bits.
#include "challenge.h"

static void solve(void)
{
    unsigned _BitInt(23) a;
    _BitInt(51) b;
    memcpy(&a, in, sizeof a);
    memcpy(&b, in + 8, sizeof b);
    a &= 0x7fffff;
    NEED(a == 0x5a5a5a);
    NEED(b + 1000 == (_BitInt(51))(-123456789012345));
    FOUND();
}
