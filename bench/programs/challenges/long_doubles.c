// Extended precision.
#include "challenge.h"

static void solve(void)
{
    long double x;
    memcpy(&x, in, 10);
    NEED(x > 6.25L && x < 6.5L);
    FOUND();
}
