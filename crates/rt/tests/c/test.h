/* What the test programs share: the runtime's symbols as instrumented code sees them. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "hooks.h"

struct summary {
    const uint8_t *base;
    uint64_t mask;
};
extern struct summary __nm_summary __attribute__((visibility("hidden")));

struct thread_words {
    uint64_t callee, returned_by;
    uint32_t returned, returned_second;
    uint64_t call_site, model_site;
    uint32_t count, reserved;
    uint32_t arguments[32];
};
extern __thread struct thread_words __nm_thread __attribute__((tls_model("initial-exec")));

extern const char __nm_abi_5;
__attribute__((used)) static const char *const abi = &__nm_abi_5;

enum { ADD = 10, AND = 20, EQ = 40, NE = 41, ULT = 42, ZEXT = 62, SEXT = 63, EXTRACT = 61 };

#define ADDRESS(x) ((uint64_t)(x))
#define CHECK(condition)                                                        \
    do {                                                                        \
        if (!(condition)) {                                                     \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);              \
            fflush(stdout);                                                     \
            _exit(99);                                                          \
        }                                                                       \
    } while (0)
#define SHOW(name, label) printf("%s=%u\n", name, label)

static inline uint8_t summary_of(const void *p)
{
    return __nm_summary.base[(ADDRESS(p) >> 3) & __nm_summary.mask];
}

static inline uint32_t label_of(const void *p)
{
    return __nm_load(ADDRESS(p) | 1ull << 56, *(const uint8_t *)p, 0);
}

static inline uint32_t binary(int op, int width, uint32_t a, uint32_t b, uint64_t x, uint64_t y)
{
    return __nm_binary((uint32_t)op | (uint32_t)width << 8, a, b, x, y);
}

/* A row of the table of variables, as instrumented objects have it. */
#define GLOBAL(variable)                                                        \
    __attribute__((section("nearmiss_globals"), used, retain))                  \
    static const struct { const void *start; uint64_t size; }                   \
    row_of_##variable = { &variable, sizeof variable }

/* Leaves labels for a call of `function`, as instrumented code does. */
static inline void pass(void *function, uint32_t first, uint32_t second, uint32_t third)
{
    __nm_thread.arguments[0] = first;
    __nm_thread.arguments[1] = second;
    __nm_thread.arguments[2] = third;
    __nm_thread.count = 3;
    __nm_thread.call_site = 4711;
    __nm_thread.returned = 0;
    __nm_thread.callee = ADDRESS(function);
}

void nearmiss_symbolic(void *memory, size_t size, const char *name);
void nearmiss_assume(int condition);
