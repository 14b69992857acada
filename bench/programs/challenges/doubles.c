// Double precision.
#include "challenge.h"

static void solve(void)
{
    double x, y;
    memcpy(&x, in, sizeof x);
    memcpy(&y, in + 8, sizeof y);
    NEED(x == -4096.0625);
    NEED(x + y > 2.5 && x + y < 2.75);
    FOUND();
}
