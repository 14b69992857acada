// A table-driven CRC-32 over eight bytes, and a tag behind it.
#include "challenge.h"

static uint32_t table[256];

static void make_table(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t rest = i;
        for (int bit = 0; bit < 8; bit++)
            rest = rest & 1 ? rest >> 1 ^ 0xedb88320 : rest >> 1;
        table[i] = rest;
    }
}

static uint32_t crc(const uint8_t *data, size_t length)
{
    uint32_t sum = ~0u;
    while (length--)
        sum = table[(sum ^ *data++) & 0xff] ^ sum >> 8;
    return ~sum;
}

static void solve(void)
{
    make_table();
    NEED(crc(in, 8) == u32(8));
    NEED(u32(8) == 0x1badb002);
    NEED(memcmp(in + 12, "TAIL", 4) == 0);
    FOUND();
}
