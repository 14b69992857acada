/* printf's family against libc: random formats and arguments must give the same bytes, result
 * and errno, and the lengths that the models check must be those that libc writes.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char labels[64];
struct {
    const unsigned char *base;
    unsigned long mask;
} __nm_summary = {labels, sizeof labels - 1};

static unsigned long comparisons, failures;
static const char *current;

static void expect(bool holds, const char *what, long long model, long long real)
{
    comparisons++;
    if (holds)
        return;
    if (failures++ < 30)
        printf("\"%s\": %s: model %lld, libc %lld\n", current, what, model, real);
}

/* What the model said to the runtime. */
static size_t checked_size, ended_length;
static const char *ended_at;

void __nm_writes(const void *start, size_t size)
{
    (void)start;
    checked_size = size;
}

void __nm_end_string(char *end, size_t length)
{
    ended_at = end;
    ended_length = length;
}

void __nm_move_labels(void *to, const void *from, size_t size)
{
    expect(memcmp(to, from, size) == 0, "labels of other bytes", 0, (long long)size);
}

int __nm_model_sprintf(char *, const char *, ...);
int __nm_model_snprintf(char *, size_t, const char *, ...);
int __nm_model_asprintf(char **, const char *, ...);
int __nm_model___sprintf_chk(char *, int, size_t, const char *, ...);
int __nm_model___snprintf_chk(char *, size_t, int, size_t, const char *, ...);

static uint64_t state = 88172645463325252u;
static unsigned below(unsigned limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 33) % limit;
}

static long long random_integer(void)
{
    static const long long edges[] = {0, 1, -1, 9, 10, 99, 100, 255, 256, 65535, 65536, INT_MAX, INT_MIN,
                                      UINT_MAX, LLONG_MAX, LLONG_MIN, 4096, -10, 07777, 999999999};
    if (below(2))
        return edges[below(sizeof edges / sizeof *edges)];
    return (long long)((uint64_t)below(1u << 31) << 33 | (uint64_t)below(1u << 31)) >> below(64);
}

static double random_double(void)
{
    static const double edges[] = {0.0, -0.0, 1.5, -2.25, 1e100, 1e-300, 0.1, 123456789.0};
    return below(4) ? edges[below(8)] : (double)random_integer() / 7;
}

static const char *random_text(void)
{
    static const char *const texts[] = {"", "a", "hello", "a longer text with spaces", "\xc3\xa4", NULL, "%d"};
    return texts[below(sizeof texts / sizeof *texts)];
}

/* A format and what it needs. Arguments of one class lie where `va_arg` looks for that class
 * whatever the order of classes is (System V ABI), so all are always passed. */
static char format[256];
static long long integers[8];
static double doubles[6];
static int used_integers, used_doubles, counted;
static long long counts[8];

static void add(const char *text)
{
    strcat(format, text);
}

static void add_conversion(void)
{
    static const char *const sizes[] = {"", "", "", "hh", "h", "l", "ll", "j", "z", "t", "q", "L"};
    char number[16];
    add("%");
    for (int i = below(3); i > 0; i--)
        add((const char *[]){"-", "+", " ", "#", "0", "'"}[below(6)]);
    if (below(5) == 0) {
        add("*");
        integers[used_integers++] = (int)below(40) - 20;
    } else if (below(2)) {
        snprintf(number, sizeof number, "%u", below(14) + 1);
        add(number);
    }
    if (below(4) == 0) {
        add(".*");
        integers[used_integers++] = (int)below(12) - 3;
    } else if (below(3) == 0) {
        snprintf(number, sizeof number, ".%u", below(10));
        add(below(4) ? number : ".");
    }
    switch (below(8)) {
    default:
        add(sizes[below(12)]);
        add((const char *[]){"d", "i", "u", "x", "X", "o"}[below(6)]);
        integers[used_integers++] = random_integer();
        break;
    case 3: case 4:
        add("s");
        integers[used_integers++] = (long long)(intptr_t)random_text();
        break;
    case 5:
        add("c");
        integers[used_integers++] = 'A' + below(26);
        break;
    case 6:
        add((const char *[]){"f", "e", "g", "a"}[below(4)]);
        doubles[used_doubles++] = random_double();
        break;
    case 7:
        add(below(3) ? "p" : "m");
        if (format[strlen(format) - 1] == 'p')
            integers[used_integers++] = below(2) ? 0 : (long long)(intptr_t)format;
        break;
    }
}

static void add_piece(void)
{
    if (below(3) == 0)
        add((const char *[]){"x", " and ", "%%", "100%% "}[below(4)]);
    if (used_integers < 5 && below(12) == 0) {
        add("%n");
        counts[counted] = -7;
        integers[used_integers++] = (long long)(intptr_t)&counts[counted++];
    } else if (used_integers < 5) {
        add_conversion();
    }
}

#define ARGUMENTS                                                                              \
    integers[0], integers[1], integers[2], integers[3], integers[4], integers[5], integers[6], \
        integers[7], doubles[0], doubles[1], doubles[2], doubles[3], doubles[4], doubles[5]

enum { ROOM = 2048 };
static char expected[ROOM], got[ROOM];

static void start(void)
{
    memset(expected, 'Q', ROOM);
    memset(got, 'Q', ROOM);
    checked_size = ended_length = 0;
    ended_at = NULL;
    errno = 2;
}

static void compare(int model, int real, int model_errno, size_t limit)
{
    expect(model == real, "result", model, real);
    expect(model_errno == errno, "errno", model_errno, errno);
    expect(memcmp(expected, got, ROOM) == 0, "bytes", 0, 0);
    if (real < 0 || limit == 0)
        return;
    size_t written = (size_t)real < limit ? (size_t)real : limit - 1;
    expect(checked_size == written + 1, "size checked", (long long)checked_size, (long long)written + 1);
    expect(ended_at == got + written, "end", ended_at - got, (long long)written);
    expect(ended_length == written, "length", (long long)ended_length, (long long)written);
}

static void compare_format(void)
{
    long long their_counts[8];
    start();
    int model = __nm_model_sprintf(got, format, ARGUMENTS), model_errno = errno;
    memcpy(their_counts, counts, sizeof counts);
    errno = 2;
    int real = sprintf(expected, format, ARGUMENTS);
    expect(memcmp(their_counts, counts, sizeof counts) == 0, "%n", their_counts[0], counts[0]);
    compare(model, real, model_errno, ROOM);

    size_t limit = below(3) ? below(30) : ROOM;
    start();
    model = __nm_model_snprintf(got, limit, format, ARGUMENTS), model_errno = errno;
    errno = 2;
    real = snprintf(expected, limit, format, ARGUMENTS);
    compare(model, real, model_errno, limit);

    start();
    char *allocated = NULL;
    model = __nm_model_asprintf(&allocated, format, ARGUMENTS), model_errno = errno;
    errno = 2;
    real = sprintf(expected, format, ARGUMENTS);
    expect(model == real && memcmp(allocated, expected, (size_t)real + 1) == 0, "asprintf", model, real);
    free(allocated);

    start();
    model = __nm_model___snprintf_chk(got, limit, 0, ROOM, format, ARGUMENTS), model_errno = errno;
    errno = 2;
    real = snprintf(expected, limit, format, ARGUMENTS);
    compare(model, real, model_errno, limit);
}

static void compare_random(void)
{
    for (int round = 0; round < 20000; round++) {
        *format = 0;
        used_integers = used_doubles = counted = 0;
        memset(integers, 0, sizeof integers);
        for (int pieces = 1 + below(4); pieces > 0; pieces--)
            add_piece();
        current = format;
        compare_format();
    }
}

#define COMPARE_ONE(...)                                                                       \
    do {                                                                                       \
        start();                                                                               \
        current = #__VA_ARGS__;                                                                \
        int model = __nm_model_sprintf(got, __VA_ARGS__), model_errno = errno;                 \
        errno = 2;                                                                             \
        int real = sprintf(expected, __VA_ARGS__);                                             \
        compare(model, real, model_errno, ROOM);                                               \
    } while (0)

static void compare_chosen(void)
{
    COMPARE_ONE("%2$s is %1$d", 42, "it");
    COMPARE_ONE("%1$*2$d|%1$-*2$d|", 42, 7);
    COMPARE_ONE("%2$.*1$s", 3, "abcdef");
    COMPARE_ONE("%3$c%1$c%2$c", 'a', 'b', 'c');
    COMPARE_ONE("%Lf %d", 1.5L, 3);
    COMPARE_ONE("%d %Lg %d %Lg", 1, 2.5L, 3, 4.5L);
    COMPARE_ONE("%ls!", L"wide");
    COMPARE_ONE("%lc", L'w');
    COMPARE_ONE("%c%c", 0, 'x');
    COMPARE_ONE("%.3s", (char[]){'a', 'b', 'c'});
    COMPARE_ONE("%#x %#x %#o %#o %#.0o", 0, 255, 0, 8, 0);
    COMPARE_ONE("%.0d|%.0d|%+.0d", 0, 1, 0);
    COMPARE_ONE("no conversion");
}

/* What is not understood here, or fails, must still be libc's. */
static void compare_strange(void)
{
    static const char *const strange[] = {"%", "%k %d", "%5", "%.-3d", "%99999999999d", "%d%"};
    for (unsigned i = 0; i < sizeof strange / sizeof *strange; i++) {
        current = strange[i];
        start();
        int model = __nm_model_snprintf(got, 64, strange[i], 1, 2), model_errno = errno;
        errno = 2;
        int real = snprintf(expected, 64, strange[i], 1, 2);
        expect(model == real, "result", model, real);
        expect(model_errno == errno, "errno", model_errno, errno);
        expect(memcmp(expected, got, 64) == 0, "bytes", 0, 0);
    }
}

int main(void)
{
    static const char *const locales[] = {"C", "C.UTF-8", "en_US.UTF-8", "de_DE.UTF-8"};
    for (unsigned locale = 0; locale < 4; locale++) {
        if (setlocale(LC_ALL, locales[locale]) == NULL)
            continue;
        for (int labelled = 0; labelled < 2; labelled++) {
            memset(labels, labelled, sizeof labels);
            compare_random();
            compare_chosen();
            compare_strange();
        }
    }
    if (failures == 0)
        printf("%lu comparisons agree\n", comparisons);
    return failures != 0;
}
