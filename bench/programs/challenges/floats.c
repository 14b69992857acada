// Single precision.
#include "challenge.h"

static void solve(void)
{
    float x, y;
    memcpy(&x, in, sizeof x);
    memcpy(&y, in + 4, sizeof y);
    NEED(x == 12.375f);
    NEED(y > 0.099f && y < 0.101f);
    NEED(x * y < 1.2375f);
    FOUND();
}
