/* The models against libc, on random and on chosen inputs.
 *
 * Compiled by plain clang together with libc/: no runtime is there, so what is below plays its
 * part, once with no byte labelled (the models ask libc), once with every byte labelled (they
 * walk), and once with open ends besides (they ask for lengths).
 * Prints what disagrees and ends with status 1, or prints how many comparisons agreed.
 */
#define _GNU_SOURCE 1
#define __NO_CTYPE 1
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <search.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

char *__xpg_basename(char *path);

static unsigned char labels[64];
struct {
    const unsigned char *base;
    unsigned long mask;
} __nm_summary = {labels, sizeof labels - 1};

/* What models ask the runtime: answered as if all were well. */
static bool open_ends;
void __nm_reads(const void *start, size_t size) { (void)start, (void)size; }
void __nm_writes(const void *start, size_t size) { (void)start, (void)size; }
void __nm_terminated(const char *start) { (void)start; }
bool __nm_has_open_end(const char *end) { return open_ends && *end == 0; }
size_t __nm_open_length(const char *start, size_t length) { return (void)start, length; }
void __nm_end_string(char *end, size_t length) { *(end - length + length) = 0; }
void __nm_move_labels(void *to, const void *from, size_t size) { (void)to, (void)from, (void)size; }
size_t __nm_settle(size_t value) { return value; }
void *__nm_settle_pointer(const void *pointer) { return (void *)pointer; }
size_t __nm_recorded(size_t value) { return value; }
void __nm_read_as_float(const void *start, size_t size) { (void)start, (void)size; }
size_t __nm_room(const void *start) { return (void)start, 0; }
bool __nm_ends_line(const char *byte) { return open_ends && *byte == '\n'; }
void __nm_clear(unsigned long start, unsigned long size) { (void)start, (void)size; }

/* This libc may not have them; the models of those that do are compared with these. */
size_t strlcpy(char *to, const char *from, size_t room)
{
    size_t length = strlen(from);
    if (room > 0) {
        size_t count = length < room ? length : room - 1;
        memcpy(to, from, count);
        to[count] = 0;
    }
    return length;
}

size_t strlcat(char *to, const char *from, size_t room)
{
    size_t used = strnlen(to, room);
    return used + (used < room ? strlcpy(to + used, from, room - used) : strlen(from));
}

static unsigned long comparisons, failures;

/* The generator is ours so that a failure comes again. */
static uint64_t state = 88172645463325252u;
static unsigned below(unsigned limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 33) % limit;
}

static void report(const char *what, const char *a, const char *b, long long model, long long real)
{
    comparisons++;
    if (model == real)
        return;
    failures++;
    if (failures < 40)
        printf("%s(\"%s\", \"%s\"): model %lld, libc %lld\n", what, a, b, model, real);
}

/* A short string over few letters, so that strings have much in common. */
static void random_string(char *to, unsigned room, const char *alphabet)
{
    unsigned length = below(room), letters = (unsigned)strlen(alphabet);
    for (unsigned i = 0; i < length; i++)
        to[i] = alphabet[below(letters)];
    to[length] = 0;
}

#define DECLARE(result, name, ...) result __nm_model_##name(__VA_ARGS__);
DECLARE(size_t, strlen, const char *)
DECLARE(size_t, strnlen, const char *, size_t)
DECLARE(int, strcmp, const char *, const char *)
DECLARE(int, strncmp, const char *, const char *, size_t)
DECLARE(int, strcasecmp, const char *, const char *)
DECLARE(int, strncasecmp, const char *, const char *, size_t)
DECLARE(int, memcmp, const void *, const void *, size_t)
DECLARE(char *, strchr, const char *, int)
DECLARE(char *, strchrnul, const char *, int)
DECLARE(char *, strrchr, const char *, int)
DECLARE(void *, memchr, const void *, int, size_t)
DECLARE(void *, memrchr, const void *, int, size_t)
DECLARE(void *, rawmemchr, const void *, int)
DECLARE(char *, index, const char *, int)
DECLARE(char *, rindex, const char *, int)
DECLARE(char *, strstr, const char *, const char *)
DECLARE(char *, strcasestr, const char *, const char *)
DECLARE(void *, memmem, const void *, size_t, const void *, size_t)
DECLARE(int, bcmp, const void *, const void *, size_t)
DECLARE(int, __memcmpeq, const void *, const void *, size_t)
DECLARE(int, strcoll, const char *, const char *)
DECLARE(int, strcasecmp_l, const char *, const char *, locale_t)
DECLARE(int, strncasecmp_l, const char *, const char *, size_t, locale_t)
DECLARE(char *, basename, const char *)
DECLARE(char *, __xpg_basename, char *)
DECLARE(char *, stpncpy, char *, const char *, size_t)
DECLARE(void *, memccpy, void *, const void *, int, size_t)
DECLARE(void, swab, const void *, void *, ssize_t)
DECLARE(size_t, strxfrm, char *, const char *, size_t)
DECLARE(size_t, strlcpy, char *, const char *, size_t)
DECLARE(size_t, strlcat, char *, const char *, size_t)
DECLARE(char *, __strcpy_chk, char *, const char *, size_t)
DECLARE(char *, __stpcpy_chk, char *, const char *, size_t)
DECLARE(char *, __strncpy_chk, char *, const char *, size_t, size_t)
DECLARE(char *, __stpncpy_chk, char *, const char *, size_t, size_t)
DECLARE(char *, __strcat_chk, char *, const char *, size_t)
DECLARE(char *, __strncat_chk, char *, const char *, size_t, size_t)
DECLARE(int, ffs, int)
DECLARE(int, ffsl, long)
DECLARE(int, ffsll, long long)
DECLARE(int, isascii, int)
DECLARE(uint32_t, htonl, uint32_t)
DECLARE(uint32_t, ntohl, uint32_t)
DECLARE(uint16_t, htons, uint16_t)
DECLARE(uint16_t, ntohs, uint16_t)
DECLARE(int, toascii, int)
DECLARE(intmax_t, strtoimax, const char *, char **, int)
DECLARE(uintmax_t, strtoumax, const char *, char **, int)
DECLARE(float, strtof, const char *, char **)
DECLARE(double, strtod, const char *, char **)
DECLARE(long double, strtold, const char *, char **)
DECLARE(double, atof, const char *)
DECLARE(void, qsort_r, void *, size_t, size_t, int (*)(const void *, const void *, void *), void *)
DECLARE(void *, lfind, const void *, const void *, size_t *, size_t,
        int (*)(const void *, const void *))
DECLARE(void *, lsearch, const void *, void *, size_t *, size_t,
        int (*)(const void *, const void *))
DECLARE(size_t, strspn, const char *, const char *)
DECLARE(size_t, strcspn, const char *, const char *)
DECLARE(char *, strpbrk, const char *, const char *)
DECLARE(char *, strcpy, char *, const char *)
DECLARE(char *, strncpy, char *, const char *, size_t)
DECLARE(char *, strcat, char *, const char *)
DECLARE(char *, strncat, char *, const char *, size_t)
DECLARE(char *, stpcpy, char *, const char *)
DECLARE(char *, strdup, const char *)
DECLARE(char *, strndup, const char *, size_t)
DECLARE(char *, strtok_r, char *, const char *, char **)
DECLARE(char *, strsep, char **, const char *)
DECLARE(long, strtol, const char *, char **, int)
DECLARE(unsigned long, strtoul, const char *, char **, int)
DECLARE(int, atoi, const char *)
DECLARE(long, atol, const char *)
DECLARE(void, qsort, void *, size_t, size_t, int (*)(const void *, const void *))
DECLARE(void *, bsearch, const void *, const void *, size_t, size_t,
        int (*)(const void *, const void *))
DECLARE(int, __isoc99_sscanf, const char *, const char *, ...)
DECLARE(int, __isoc99_fscanf, FILE *, const char *, ...)

#define EACH_CLASS(row)                                                                        \
    row(isalpha) row(isdigit) row(isalnum) row(isspace) row(isupper) row(islower)              \
    row(ispunct) row(isprint) row(isxdigit) row(iscntrl) row(isgraph) row(isblank)     \
    row(tolower) row(toupper)
#define DECLARE_CLASS(name) DECLARE(int, name, int) DECLARE(int, name##_l, int, locale_t)
EACH_CLASS(DECLARE_CLASS)

static void compare_classes(void)
{
#define COMPARE_CLASS(name)                                                                    \
    for (int c = -128; c < 256; c++) {                                                         \
        char text[8];                                                                          \
        snprintf(text, sizeof text, "%d", c);                                                  \
        report(#name, text, "", __nm_model_##name(c), name(c));                                \
        report(#name "_l", text, "", __nm_model_##name##_l(c, locale), name##_l(c, locale));   \
    }
    locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    EACH_CLASS(COMPARE_CLASS)
    freelocale(locale);
    for (int c = -300; c < 300; c++) {
        report("htonl", "", "", __nm_model_htonl(c * 65537u), htonl(c * 65537u));
        report("ntohl", "", "", __nm_model_ntohl(c * 65537u), ntohl(c * 65537u));
        report("htons", "", "", __nm_model_htons((uint16_t)(c * 97)), htons((uint16_t)(c * 97)));
        report("ntohs", "", "", __nm_model_ntohs((uint16_t)(c * 97)), ntohs((uint16_t)(c * 97)));
        report("isascii", "", "", __nm_model_isascii(c), isascii(c));
        report("toascii", "", "", __nm_model_toascii(c), toascii(c));
        report("ffs", "", "", __nm_model_ffs(c), ffs(c));
        report("ffsl", "", "", __nm_model_ffsl((long)c << 20), ffsl((long)c << 20));
        report("ffsll", "", "", __nm_model_ffsll((long long)c << 40), ffsll((long long)c << 40));
    }
}

#define COMPARE(name, ...) report(#name, a, b, (long long)__nm_model_##name(__VA_ARGS__), (long long)name(__VA_ARGS__))

static void compare_strings(void)
{
    static const char *const alphabets[] = {"ab", "aA", "abc,; ", "\x80\xff" "az", "x"};
    locale_t locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    char a[24], b[24];
    for (int round = 0; round < 40000; round++) {
        const char *alphabet = alphabets[below(5)];
        random_string(a, sizeof a, alphabet);
        random_string(b, below(3) ? 4 : sizeof b, alphabet);
        size_t n = below(26);
        int c = below(8) ? alphabet[0] : 0;
        COMPARE(strlen, a);
        COMPARE(strnlen, a, n);
        COMPARE(strcmp, a, b);
        COMPARE(strncmp, a, b, n);
        COMPARE(strcasecmp, a, b);
        COMPARE(strncasecmp, a, b, n);
        size_t common = strlen(a) < strlen(b) ? strlen(a) : strlen(b);
        COMPARE(memcmp, a, b, common);
        COMPARE(strchr, a, c);
        COMPARE(strchrnul, a, c);
        COMPARE(strrchr, a, c);
        COMPARE(memchr, a, c, strlen(a));
        COMPARE(memrchr, a, c, strlen(a));
        COMPARE(strstr, a, b);
        COMPARE(strspn, a, b);
        COMPARE(strcspn, a, b);
        COMPARE(strpbrk, a, b);
        COMPARE(index, a, c);
        COMPARE(rindex, a, c);
        size_t used = strlen(a);
        COMPARE(memmem, a, used, b, strlen(b));
        COMPARE(strcasestr, a, b);
        COMPARE(bcmp, a, b, common);
        report("__memcmpeq", a, b, __nm_model___memcmpeq(a, b, common) == 0, bcmp(a, b, common) == 0);
        COMPARE(strcoll, a, b);
        COMPARE(strcasecmp_l, a, b, locale);
        COMPARE(strncasecmp_l, a, b, n, locale);
        if (strchr(a, c) != NULL)
            COMPARE(rawmemchr, a, c);
    }
    freelocale(locale);
}

/* One line: that its newline is the only one is what models of searches rely on. */
static void compare_lines(void)
{
    char a[24];
    for (int round = 0; round < 10000; round++) {
        const char *b = "\n", *set = below(2) ? "\n" : "\nb";
        random_string(a, sizeof a - 1, "abc");
        strcat(a, "\n");
        COMPARE(strchr, a, '\n');
        COMPARE(strrchr, a, '\n');
        COMPARE(strchrnul, a, '\n');
        COMPARE(memchr, a, '\n', strlen(a));
        COMPARE(memrchr, a, '\n', strlen(a));
        COMPARE(rawmemchr, a, '\n');
        COMPARE(strcspn, a, set);
        COMPARE(strspn, a, "abc\n");
        COMPARE(strpbrk, a, set);
        COMPARE(strstr, a, b);
        char first[24], second[24], *save, *real_save;
        strcpy(first, a);
        strcpy(second, a);
        char *model = __nm_model_strtok_r(first, set, &save), *real = strtok_r(second, set, &real_save);
        report("strtok_r of a line", a, set, model ? model - first : -1, real ? real - second : -1);
        report("strtok_r save", a, set, save - first, real_save - second);
        report("strtok_r bytes", a, set, memcmp(first, second, strlen(a) + 1), 0);
    }
}

static void compare_paths(void)
{
    char a[24];
    for (int round = 0; round < 5000; round++) {
        const char *b = "";
        random_string(a, sizeof a, "ab//");
        report("basename", a, b, __nm_model_basename(a) - a, basename(a) - a);
        char first[24], second[24];
        strcpy(first, a);
        strcpy(second, a);
        char *model = __nm_model___xpg_basename(first), *real = __xpg_basename(second);
        report("__xpg_basename", a, b, strcmp(model, real), 0);
        report("__xpg_basename bytes", a, b, memcmp(first, second, strlen(a) + 1), 0);
    }
}

/* Both write into a buffer that starts with the same string; result and all bytes must agree. */
#define COMPARE_COPY(name, ...)                                                                \
    do {                                                                                       \
        char expected[80], to[80];                                                             \
        memset(expected, 'Q', sizeof expected);                                                \
        strcpy(expected, b);                                                                   \
        memcpy(to, expected, sizeof to);                                                       \
        long long model = __nm_model_##name(to, __VA_ARGS__) - to;                             \
        long long real = name(expected, __VA_ARGS__) - expected;                               \
        report(#name, a, b, model, real);                                                      \
        report(#name " bytes", a, b, memcmp(to, expected, sizeof to), 0);                      \
    } while (0)

/* Functions that return a length. */
#define COMPARE_LENGTH(name, ...)                                                              \
    do {                                                                                       \
        char expected[80], to[80];                                                             \
        memset(expected, 'Q', sizeof expected);                                                \
        strcpy(expected, b);                                                                   \
        memcpy(to, expected, sizeof to);                                                       \
        long long model = (long long)__nm_model_##name(to, __VA_ARGS__);                       \
        long long real = (long long)name(expected, __VA_ARGS__);                               \
        report(#name, a, b, model, real);                                                      \
        report(#name " bytes", a, b, memcmp(to, expected, sizeof to), 0);                      \
    } while (0)

char *__strcpy_chk(char *, const char *, size_t);
char *__stpcpy_chk(char *, const char *, size_t);
char *__strncpy_chk(char *, const char *, size_t, size_t);
char *__stpncpy_chk(char *, const char *, size_t, size_t);
char *__strcat_chk(char *, const char *, size_t);
char *__strncat_chk(char *, const char *, size_t, size_t);

static void compare_memory_copies(const char *a, size_t n)
{
    char model[32], real[32];
    memset(model, 'Q', sizeof model);
    memset(real, 'Q', sizeof real);
    int c = below(4) ? 'b' : 0;
    size_t size = n < strlen(a) + 1 ? n : strlen(a) + 1;
    char *end = __nm_model_memccpy(model, a, c, size), *real_end = memccpy(real, a, c, size);
    report("memccpy", a, "", end ? end - model : -1, real_end ? real_end - real : -1);
    report("memccpy bytes", a, "", memcmp(model, real, sizeof real), 0);
    ssize_t count = (ssize_t)below((unsigned)size + 2) - 1;
    __nm_model_swab(a, model, count);
    swab(a, real, count);
    report("swab", a, "", memcmp(model, real, sizeof real), 0);
}

static void compare_copies(void)
{
    char a[24], b[24];
    for (int round = 0; round < 20000; round++) {
        random_string(a, sizeof a, "abc");
        random_string(b, sizeof b, "xyz");
        size_t n = below(30);
        COMPARE_COPY(strcpy, a);
        COMPARE_COPY(stpcpy, a);
        COMPARE_COPY(strncpy, a, n);
        COMPARE_COPY(strcat, a);
        COMPARE_COPY(strncat, a, n);
        COMPARE_COPY(stpncpy, a, n);
        COMPARE_COPY(__strcpy_chk, a, 80);
        COMPARE_COPY(__stpcpy_chk, a, 80);
        COMPARE_COPY(__strncpy_chk, a, n, 80);
        COMPARE_COPY(__stpncpy_chk, a, n, 80);
        COMPARE_COPY(__strcat_chk, a, 80);
        COMPARE_COPY(__strncat_chk, a, n, 80);
        COMPARE_LENGTH(strlcpy, a, n);
        COMPARE_LENGTH(strlcat, a, n);
        COMPARE_LENGTH(strxfrm, a, n);
        compare_memory_copies(a, n);
        char *copy = __nm_model_strdup(a);
        report("strdup", a, "", strcmp(copy, a), 0);
        free(copy);
        copy = __nm_model_strndup(a, n);
        char *real = strndup(a, n);
        report("strndup", a, "", strcmp(copy, real), 0);
        free(copy);
        free(real);
    }
}

static void compare_tokens(void)
{
    char a[24], b[4];
    for (int round = 0; round < 20000; round++) {
        random_string(a, sizeof a, "ab,; ");
        random_string(b, sizeof b, ",; ");
        char first[24], second[24], *save = NULL, *real_save = NULL;
        strcpy(first, a);
        strcpy(second, a);
        char *model = __nm_model_strtok_r(first, b, &save), *real = strtok_r(second, b, &real_save);
        for (;;) {
            report("strtok_r", a, b, model ? model - first : -1, real ? real - second : -1);
            report("strtok_r save", a, b, save - first, real_save - second);
            if (model == NULL || real == NULL)
                break;
            model = __nm_model_strtok_r(NULL, b, &save);
            real = strtok_r(NULL, b, &real_save);
        }
        report("strtok_r bytes", a, b, memcmp(first, second, strlen(a) + 1), 0);
        strcpy(first, a);
        strcpy(second, a);
        save = first;
        real_save = second;
        while (save != NULL && real_save != NULL) {
            model = __nm_model_strsep(&save, b);
            real = strsep(&real_save, b);
            report("strsep", a, b, model - first, real - second);
            report("strsep rest", a, b, save ? save - first : -1, real_save ? real_save - second : -1);
        }
    }
}

static void compare_number(const char *a, int base)
{
    char b[8];
    snprintf(b, sizeof b, "%d", base);
    char *model_end = (char *)a, *real_end = (char *)a;
    errno = 0;
    long model = __nm_model_strtol(a, &model_end, base);
    int model_errno = errno;
    errno = 0;
    long real = strtol(a, &real_end, base);
    report("strtol", a, b, model, real);
    report("strtol errno", a, b, model_errno, errno);
    report("strtol end", a, b, model_end - a, real_end - a);
    errno = 0;
    unsigned long unsigned_model = __nm_model_strtoul(a, &model_end, base);
    model_errno = errno;
    errno = 0;
    unsigned long unsigned_real = strtoul(a, &real_end, base);
    report("strtoul", a, b, (long long)unsigned_model, (long long)unsigned_real);
    report("strtoul errno", a, b, model_errno, errno);
    report("strtoul end", a, b, model_end - a, real_end - a);
    COMPARE(atoi, a);
    COMPARE(atol, a);
    COMPARE(strtoimax, a, NULL, base);
    COMPARE(strtoumax, a, NULL, base);
}

/* Bit by bit: there are several zeros and many NaNs. */
#define COMPARE_FLOAT(type, bytes, name)                                                       \
    do {                                                                                       \
        char *model_end, *real_end;                                                            \
        type model = __nm_model_##name(a, &model_end), real = name(a, &real_end);              \
        report(#name, a, "", memcmp(&model, &real, bytes), 0);                                 \
        report(#name " end", a, "", model_end - a, real_end - a);                              \
    } while (0)

static void compare_floats(void)
{
    char a[24];
    for (int round = 0; round < 20000; round++) {
        random_string(a, sizeof a, below(4) ? " +-.0123e9" : "inFNAax.1p-");
        COMPARE_FLOAT(float, 4, strtof);
        COMPARE_FLOAT(double, 8, strtod);
        COMPARE_FLOAT(long double, 10, strtold);
        double model = __nm_model_atof(a), real = atof(a);
        report("atof", a, "", memcmp(&model, &real, sizeof real), 0);
    }
}

static void compare_numbers(void)
{
    static const char *const chosen[] = {
        "", " ", "+", "-", "+-1", "- 1", "0", "00", "0x", "0xg", "0X1f", "-0x10", "0x 1", " \t\n\v\f\r7",
        "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
        "18446744073709551615", "18446744073709551616", "-18446744073709551615", "-18446744073709551616",
        "99999999999999999999999999", "0x7fffffffffffffff", "0xffffffffffffffff", "0x10000000000000000",
        "0777", "08", "0b11", "zz", "1e5", "12abc", "2147483648", "-2147483649", "000000000000000000000017",
        "3w5e11264sgsf", "3w5e11264sgsg", "1y2p0ij32e8e7", "1y2p0ij32e8e8", "\xa0" "5",
    };
    static const int bases[] = {0, 2, 3, 8, 10, 16, 35, 36, 1, 37, -1};
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++)
        for (size_t j = 0; j < sizeof bases / sizeof *bases; j++)
            compare_number(chosen[i], bases[j]);
    char a[24];
    for (int round = 0; round < 30000; round++) {
        random_string(a, sizeof a, below(2) ? "0123456789" : " +-0xX19afzg");
        compare_number(a, bases[below(8)]);
    }
}

/* What one scan gave: everything that a program can see of it. */
struct scanned {
    int result;
    int error;
    int next;
    _Alignas(16) unsigned char bytes[4][32];
};

static void compare_scan(const char *text, const char *format)
{
    struct scanned model, real;
    memset(&model, 'Q', sizeof model);
    memset(&real, 'Q', sizeof real);
    errno = 0;
    model.result = __nm_model___isoc99_sscanf(text, format, model.bytes[0], model.bytes[1], model.bytes[2], model.bytes[3]);
    model.error = errno;
    errno = 0;
#pragma clang diagnostic ignored "-Wformat-nonliteral"
    real.result = sscanf(text, format, real.bytes[0], real.bytes[1], real.bytes[2], real.bytes[3]);
    real.error = errno;
    report("sscanf", text, format, model.result, real.result);
    report("sscanf errno", text, format, model.error, real.error);
    report("sscanf bytes", text, format, memcmp(model.bytes, real.bytes, sizeof real.bytes), 0);

    memset(&model, 'Q', sizeof model);
    memset(&real, 'Q', sizeof real);
    if (*text == 0)
        return;
    FILE *stream = fmemopen((void *)text, strlen(text), "r");
    model.result = __nm_model___isoc99_fscanf(stream, format, model.bytes[0], model.bytes[1], model.bytes[2], model.bytes[3]);
    model.next = getc(stream);
    model.error = feof(stream);
    fclose(stream);
    stream = fmemopen((void *)text, strlen(text), "r");
    real.result = fscanf(stream, format, real.bytes[0], real.bytes[1], real.bytes[2], real.bytes[3]);
    real.next = getc(stream);
    real.error = feof(stream);
    fclose(stream);
    report("fscanf", text, format, model.result, real.result);
    report("fscanf next", text, format, model.next, real.next);
    report("fscanf feof", text, format, model.error, real.error);
    report("fscanf bytes", text, format, memcmp(model.bytes, real.bytes, sizeof real.bytes), 0);
}

static void compare_scans(void)
{
    static const char *const texts[] = {
        "", " ", "12", "12 34", " 12\n34 ", "-5", "+5", "-", "+ 5", "0x1f", "0x", "0xg", "-0x1f", "017", "08",
        "abc", "abc def", "  abc", "a,b", "12,34", "12 ,34", "12, 34", "%", "5%", "]x", "a-z", "^", "key=value",
        "99999999999999999999", "-99999999999999999999", "4294967296", "65536", "256", "12abc", "x", "1 2 3 4 5",
        "  %7", "00x12", "123456789012345", "3.5", "1e3", "(nil)", "\t\v\f\r9", "zzz9",
        "1e", "1e+ 5", "nan", "inf x", "infinity5", "0x1p3 4", "1.5.5", ".5", ".", "-.5e-2x", "1.5 2.5", "word\n", "two words\n",
    };
    static const char *const formats[] = {
        "%d", "%d %d", "%d%d%d", "%i", "%i %i", "%u", "%x", "%X %x", "%o", "%c", "%c%c", "%3c", "%s", "%2s%s",
        "%s %s", " %c", "%n", "%d%n", "%d %n", "%*d%d", "%*d%n", "%*s%s", "%*c%c", "%2d%2d", "%1d%d", "%1i%i",
        "%2i%s", "%3x%s", "%hhd", "%hd", "%ld", "%lld", "%jd", "%zu", "%td", "%hhu", "%hu", "%lu", "%llx", "%qd",
        "%[a-z]", "%[^ ]", "%[^,],%s", "%[]x]", "%[^]]", "%[-a]", "%[a-]", "%3[0-9]%d", "%*[a-z]%d", "%[a-c-e]",
        "%d,%d", "%d ,%d", "%d%%", "%%%d", " %% %d", "key=%s", "a,%c", "x%d", " ", "", "%d ", "abc%n", "%5%", "%f",
        "%p", "%", "%z", "%1$d", "%lc", "%ls", "%hhn%d", "%ln", "%d%c", "%i%c%c", "%[^\n]", "%0d", "%*n%d",
        "%lf", "%Lf", "%3f%s", "%f %d", "%*f%d", "%d %lf%n", "%e,%g", "%s%f", "%5s", "%5[a-z]%n",
        "%[z-a]", "%[--9]", "%[%d]", "%*%%d", "%d%[^0-9]%d",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t j = 0; j < sizeof formats / sizeof *formats; j++)
            compare_scan(texts[i], formats[j]);
    char text[24];
    for (int round = 0; round < 60000; round++) {
        random_string(text, sizeof text, below(2) ? " 0123-+xab," : "09 x,%");
        compare_scan(text, formats[below(sizeof formats / sizeof *formats)]);
    }
}

struct pair {
    int key, order;
    char padding[5];
};

static int by_key(const void *a, const void *b)
{
    return ((const struct pair *)a)->key - ((const struct pair *)b)->key;
}

static int by_key_from(const void *a, const void *b, void *middle)
{
    return abs(((const struct pair *)a)->key - *(int *)middle)
           - abs(((const struct pair *)b)->key - *(int *)middle);
}

static int has_key(const void *a, const void *b)
{
    return by_key(a, b) != 0;
}

static void compare_sorts(void)
{
    static struct pair model[301], real[301];
    for (int round = 0; round < 300; round++) {
        size_t count = below(300);
        for (size_t i = 0; i < count; i++)
            model[i] = real[i] = (struct pair){.key = (int)below(50), .order = (int)i};
        __nm_model_qsort(model, count, sizeof *model, by_key);
        qsort(real, count, sizeof *real, by_key);
        report("qsort", "", "", memcmp(model, real, count * sizeof *real), 0);
        struct pair key = {.key = (int)below(50)};
        struct pair *found = __nm_model_bsearch(&key, model, count, sizeof *model, by_key);
        struct pair *really = bsearch(&key, model, count, sizeof *model, by_key);
        report("bsearch", "", "", found - model, really - model);
        int middle = (int)below(50);
        __nm_model_qsort_r(model, count, sizeof *model, by_key_from, &middle);
        qsort_r(real, count, sizeof *real, by_key_from, &middle);
        report("qsort_r", "", "", memcmp(model, real, count * sizeof *real), 0);
        size_t used = count / 2, real_used = used;
        found = __nm_model_lfind(&key, model, &used, sizeof *model, has_key);
        really = lfind(&key, real, &real_used, sizeof *real, has_key);
        report("lfind", "", "", found ? found - model : -1, really ? really - real : -1);
        found = __nm_model_lsearch(&key, model, &used, sizeof *model, has_key);
        really = lsearch(&key, real, &real_used, sizeof *real, has_key);
        report("lsearch", "", "", found - model, really - real);
        report("lsearch count", "", "", (long long)used, (long long)real_used);
        report("lsearch bytes", "", "", memcmp(model, real, used * sizeof *real), 0);
    }
}

int main(void)
{
    for (int labelled = 0; labelled < 3; labelled++) {
        memset(labels, labelled ? 0xff : 0, sizeof labels);
        open_ends = labelled == 2;
        compare_classes();
        compare_strings();
        compare_lines();
        compare_paths();
        compare_copies();
        compare_tokens();
        compare_numbers();
        compare_floats();
        compare_scans();
        compare_sorts();
    }
    if (failures != 0) {
        printf("%lu of %lu comparisons disagree\n", failures, comparisons);
        return 1;
    }
    printf("%lu comparisons agree\n", comparisons);
    return 0;
}
