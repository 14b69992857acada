// Words that the program's own loops compare: no call says what is compared.
#include "challenge.h"

static int same(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

static int begins(const uint8_t *data, const char *word)
{
    for (; *word; data++, word++)
        if (*data != (uint8_t)*word)
            return 0;
    return 1;
}

static void solve(void)
{
    static const char *const verbs[] = { "subscribe", "unsubscribe", "publish-message", "acknowledge" };
    static const uint16_t marks[] = { 0x1001, 0xa0a0, 0x77ff, 0x0042, 0xbeef };
    NEED(begins(in, "MQ-PROTO/3."));
    char verb[16] = { 0 };
    memcpy(verb, in + 11, 15);
    int chosen = -1;
    for (int i = 0; i < 4; i++)
        if (same(verb, verbs[i]))
            chosen = i;
    NEED(chosen == 2);
    for (int i = 0; i < 5; i++)
        NEED(u16(26 + 2 * i) == marks[i]);
    NEED(begins(in + 36, "</trailer>"));
    FOUND();
}
