// Input that is changed before it is compared: numbers as text, sums, ciphers, letter case, hexadecimal.
#include "challenge.h"
#include <ctype.h>

static int digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    NEED(c >= 'A' && c <= 'F');
    return c - 'A' + 10;
}

static void solve(void)
{
    static const char digits[] = "0123456789abcdef";
    char text[17] = { 0 };
    uint8_t bytes[4];
    NEED(atoi((char *)in) == 48211);
    NEED(u32(6) + 0x2000 == 0x77);
    NEED((u32(10) ^ 0x3c3cc3c3) == 0x01020304);
    for (int i = 0; i < 8; i++)
        in[14 + i] -= 3 + i;
    NEED(memcmp(in + 14, "ROTATION", 8) == 0);
    for (int i = 22; i < 27; i++) {
        NEED(islower(in[i]));
        in[i] = toupper(in[i]);
    }
    NEED(strncmp((char *)in + 22, "UPPER", 5) == 0);
    for (int i = 0; i < 8; i++) {
        text[2 * i] = digits[in[28 + i] >> 4];
        text[2 * i + 1] = digits[in[28 + i] & 15];
    }
    NEED(strcmp(text, "6b65790a00ff1234") == 0);
    for (int i = 0; i < 4; i++)
        bytes[i] = digit(in[36 + 2 * i]) << 4 | digit(in[37 + 2 * i]);
    NEED(memcmp(bytes, "DONE", 4) == 0);
    FOUND();
}
