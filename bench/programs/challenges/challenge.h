// What all challenges share: up to 64 bytes of standard input, and what is to be reached.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint8_t in[65];
static size_t size;

#define REJECT() exit(1)
#define NEED(condition) do { if (!(condition)) REJECT(); } while (0)
#define FOUND() abort()

static void solve(void);

static inline uint16_t u16(size_t at) { uint16_t x; memcpy(&x, in + at, sizeof x); return x; }
static inline uint32_t u32(size_t at) { uint32_t x; memcpy(&x, in + at, sizeof x); return x; }
static inline uint64_t u64(size_t at) { uint64_t x; memcpy(&x, in + at, sizeof x); return x; }

int main(void)
{
    ssize_t got = read(0, in, 64);
    NEED(got >= 48);
    size = got;
    solve();
    return 0;
}
