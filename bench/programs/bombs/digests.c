// Functions that are made to be hard to invert.
#include "bomb.h"

static uint32_t fnv(const uint8_t *data, size_t length)
{
    uint32_t hash = 2166136261u;
    while (length--)
        hash = (hash ^ *data++) * 16777619u;
    return hash;
}

int hash_of_byte(const char *s) { return fnv((const uint8_t *)s, 1) == 0xee0c38ea; }

int hash_of_two_bytes(const char *s) { return s[0] && s[1] && fnv((const uint8_t *)s, 2) % 65521 == 4242; }

static uint32_t mixed(uint32_t x)
{
    for (int round = 0; round < 8; round++) {
        x ^= x >> 16;
        x *= 0x7feb352d;
        x ^= x >> 15;
        x *= 0x846ca68b;
    }
    return x;
}

int mixed_byte(const char *s) { return mixed((unsigned char)s[0]) % 251 == 99; }

static const uint32_t delta = 0x9e3779b9;

int cipher_of_byte(const char *s)
{
    uint32_t key[4] = { 0x01234567, 0x89abcdef, 0xfedcba98, 0x76543210 };
    uint32_t a = (unsigned char)s[0], b = 0, sum = 0;
    for (int round = 0; round < 32; round++) {
        a += ((b << 4 ^ b >> 5) + b) ^ (sum + key[sum & 3]);
        sum += delta;
        b += ((a << 4 ^ a >> 5) + a) ^ (sum + key[sum >> 11 & 3]);
    }
    return (a ^ b) % 97 == 13;
}

int cipher_of_word(const char *s)
{
    uint32_t key[4] = { 1, 2, 3, 4 }, a, b = 7, sum = 0;
    if (strlen(s) != 4)
        return 0;
    memcpy(&a, s, 4);
    for (int round = 0; round < 32; round++) {
        a += ((b << 4 ^ b >> 5) + b) ^ (sum + key[sum & 3]);
        sum += delta;
        b += ((a << 4 ^ a >> 5) + a) ^ (sum + key[sum >> 11 & 3]);
    }
    return a == 0xdeadbeef;
}
