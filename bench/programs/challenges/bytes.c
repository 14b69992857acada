// Twelve bytes, each compared after a different operation.
#include "challenge.h"

static void solve(void)
{
    NEED(in[0] == 0xa1);
    NEED(in[1] < 9 && in[1] > 7);
    NEED((uint8_t)(in[2] + 77) == 3);
    NEED((in[3] ^ in[0]) == 0x5a);
    NEED((uint8_t)(in[4] * 5) == 235);
    NEED((int8_t)in[5] < -120 && (in[5] & 7) == 5);
    NEED((uint8_t)(in[6] << 3) == 0x88 && in[6] > 200);
    NEED(in[7] / 9 == 13 && in[7] % 9 == 4);
    NEED((uint8_t)~in[8] == in[1]);
    NEED(in[9] - in[8] == -40);
    NEED((in[10] | 0x0f) == 0xcf && (in[10] & 0x0f) == 6);
    NEED((uint8_t)(in[11] - in[10] + in[9]) == 17);
    FOUND();
}
