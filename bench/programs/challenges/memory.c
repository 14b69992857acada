// memcmp against constants, and of one part of the input with another.
#include "challenge.h"

static void solve(void)
{
    static const uint8_t magic[] = { 0x8e, 'N', 'E', 'A', 'R', 0, 1, 26 };
    NEED(memcmp(in, magic, sizeof magic) == 0);
    NEED(memcmp(in + 8, "chunk-type", 10) == 0);
    NEED(memcmp(in + 20, in + 8, 5) == 0);
    NEED(memcmp(in + 30, "\xff\xfe\0\0zz", 6) == 0);
    FOUND();
}
