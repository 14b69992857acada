/* Models of <stdlib.h> and <inttypes.h>: numbers from digits, sorting and searching.
 */
#include "text.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(hidden)

/* 2 to 36, or 0: what the functions accept. */
static bool is_base(int base)
{
    return base == 0 || (base >= 2 && base <= 36);
}

unsigned long long __nm_finish_number(const struct nm_number *number, bool negative, bool is_signed)
{
    if (!is_signed) {
        if (number->overflows) {
            errno = ERANGE;
            return ULLONG_MAX;
        }
        return negative ? -number->value : number->value;
    }
    unsigned long long limit = (unsigned long long)LLONG_MAX + negative;
    if (number->overflows || number->value > limit) {
        errno = ERANGE;
        return limit;
    }
    return negative ? -number->value : number->value;
}

/* The value of a byte as a digit; no less than the base if it is none. */
static unsigned digit_of(char c, int base)
{
    unsigned char byte = (unsigned char)c;
    return base <= 10 ? (unsigned)byte - '0' : nm_digit_value(byte);
}

/* Digits that one step makes, at most: a number of that many leads to those that are a little longer. */
enum { DIGITS_AT_ONCE = 4 };

/* The number ends before `s` in this run. That the next bytes are digits too is one step, not one for each. */
static void hint_digits(const char *s, int base)
{
    /* Letters as digits are several ranges: a decision each. */
    if (__nm_explores() || base > 10)
        return;
    size_t count = __nm_real_strnlen(s, DIGITS_AT_ONCE);
    if (count < 2)
        return;
    bool all = true;
    for (size_t i = 0; i < count; i++)
        all &= digit_of(s[i], base) < (unsigned)base;
    __nm_hint(all);
}

/* Digits of `base` from `s`, with the white space, sign and prefix that the functions allow. */
static unsigned long long read_number(const char *text, char **end, int base, bool is_signed)
{
    const char *start = nm_start(text), *s = start;
    while (nm_is_space(nm_byte(s)))
        s++;
    bool negative = *s == '-';
    if (negative)
        s++;
    else if (*s == '+')
        s++;
    /* "0x" counts only before a digit: of "0xg" the zero is the number. */
    if ((base == 0 || base == 16) && nm_byte(s) == '0' && (nm_byte(s + 1) | 32) == 'x'
        && nm_digit_value((unsigned char)nm_byte(s + 2)) < 16) {
        s += 2;
        base = 16;
    } else if (base == 0) {
        base = nm_byte(s) == '0' ? 8 : 10;
    }
    struct nm_number number = {0, false};
    int digits = 0;
    for (;; s++, digits++) {
        unsigned digit = digit_of(nm_byte(s), base);
        if (__nm_recorded(digit) >= (size_t)base)
            hint_digits(__nm_recorded_pointer(s), base);
        if (digit >= (unsigned)base)
            break;
        nm_add_digit(&number, base, digit, digits);
    }
    if (end != NULL)
        *end = (char *)text + (digits > 0 ? s - start : 0);
    return __nm_finish_number(&number, negative, is_signed);
}

/* What the real functions look at beyond the number: a digit after "0x", or one byte. */
static bool number_is_concrete(const char *s, const char *end)
{
    size_t room = __nm_real_strnlen(end, 2) + 1;
    /* Nothing converted: `end` is `s`, but white space, sign and prefix were read. */
    if (s == end)
        room = __nm_real_strlen(s) + 1;
    return __nm_is_concrete(s, (size_t)(end - s) + room);
}

long NM_MODEL(strtol)(const char *s, char **end, int base)
{
    if (!nm_records() || !is_base(base))
        return __nm_real_strtol(s, end, base);
    if (nm_value_is_concrete(s) && nm_value_is_concrete(base)) {
        char *real_end;
        long value = __nm_real_strtol(s, &real_end, base);
        if (number_is_concrete(s, real_end)) {
            if (end != NULL)
                *end = real_end;
            return value;
        }
    }
    return (long)read_number(s, end, base, true);
}

unsigned long NM_MODEL(strtoul)(const char *s, char **end, int base)
{
    if (!nm_records() || !is_base(base))
        return __nm_real_strtoul(s, end, base);
    if (nm_value_is_concrete(s) && nm_value_is_concrete(base)) {
        char *real_end;
        unsigned long value = __nm_real_strtoul(s, &real_end, base);
        if (number_is_concrete(s, real_end)) {
            if (end != NULL)
                *end = real_end;
            return value;
        }
    }
    return (unsigned long)read_number(s, end, base, false);
}

_Static_assert(sizeof(long) == sizeof(long long), "the long functions do for long long");

intmax_t NM_MODEL(strtoimax)(const char *s, char **end, int base)
{
    return NM_MODEL(strtol)(s, end, base);
}

uintmax_t NM_MODEL(strtoumax)(const char *s, char **end, int base)
{
    return NM_MODEL(strtoul)(s, end, base);
}

long long NM_MODEL(strtoq)(const char *s, char **end, int base)
{
    return NM_MODEL(strtol)(s, end, base);
}

unsigned long long NM_MODEL(strtouq)(const char *s, char **end, int base)
{
    return NM_MODEL(strtoul)(s, end, base);
}

long long NM_MODEL(strtoll)(const char *s, char **end, int base)
{
    return NM_MODEL(strtol)(s, end, base);
}

unsigned long long NM_MODEL(strtoull)(const char *s, char **end, int base)
{
    return NM_MODEL(strtoul)(s, end, base);
}

/* C23's functions also take "0b101" in bases 0 and 2: that is handed to libc. */
static bool has_binary_prefix(const char *s, int base)
{
    if (base != 0 && base != 2)
        return false;
    while (nm_is_space(*s))
        s++;
    if (*s == '-' || *s == '+')
        s++;
    return s[0] == '0' && (s[1] | 32) == 'b';
}

/* Only a libc that has them is ever asked for them. */
extern long __isoc23_strtol(const char *s, char **end, int base)
    __attribute__((weak, visibility("default")));
extern unsigned long __isoc23_strtoul(const char *s, char **end, int base)
    __attribute__((weak, visibility("default")));

static long (*const volatile real_isoc23_strtol)(const char *, char **, int) = __isoc23_strtol;
static unsigned long (*const volatile real_isoc23_strtoul)(const char *, char **, int) =
    __isoc23_strtoul;

long NM_MODEL(__isoc23_strtol)(const char *s, char **end, int base)
{
    if (!nm_records() || has_binary_prefix(s, base))
        return real_isoc23_strtol(s, end, base);
    return NM_MODEL(strtol)(s, end, base);
}

unsigned long NM_MODEL(__isoc23_strtoul)(const char *s, char **end, int base)
{
    if (!nm_records() || has_binary_prefix(s, base))
        return real_isoc23_strtoul(s, end, base);
    return NM_MODEL(strtoul)(s, end, base);
}

long long NM_MODEL(__isoc23_strtoll)(const char *s, char **end, int base)
{
    return NM_MODEL(__isoc23_strtol)(s, end, base);
}

unsigned long long NM_MODEL(__isoc23_strtoull)(const char *s, char **end, int base)
{
    return NM_MODEL(__isoc23_strtoul)(s, end, base);
}

intmax_t NM_MODEL(__isoc23_strtoimax)(const char *s, char **end, int base)
{
    return NM_MODEL(__isoc23_strtol)(s, end, base);
}

uintmax_t NM_MODEL(__isoc23_strtoumax)(const char *s, char **end, int base)
{
    return NM_MODEL(__isoc23_strtoul)(s, end, base);
}

/* glibc's atoi is strtol cut to 32 bits, and sets errno like it. */

long NM_MODEL(atol)(const char *s)
{
    return NM_MODEL(strtol)(s, NULL, 10);
}

long long NM_MODEL(atoll)(const char *s)
{
    return NM_MODEL(strtol)(s, NULL, 10);
}

int NM_MODEL(atoi)(const char *s)
{
    return (int)NM_MODEL(strtol)(s, NULL, 10);
}

/* How many bytes decided what number a string is, and that it goes no further than `stop`.
 * Where there is none, white space and a few letters were looked at. */
static size_t bytes_of_float(const char *s, const char *stop)
{
    if (stop != s)
        return (size_t)(stop - s) + 1;
    size_t most = __nm_real_strspn(s, " \t\n\v\f\r") + 3;
    size_t length = __nm_real_strnlen(s, most);
    /* The zero that ended the search was looked at too. */
    return length < most ? length + 1 : most;
}

/* Floating-point numbers are concrete: the bytes that made one keep their values. */
#define FLOAT_MODEL(type, name)                                                                \
    type NM_MODEL(name)(const char *s, char **end)                                             \
    {                                                                                          \
        if (!nm_records())                                                                     \
            return __nm_real_##name(s, end);                                                   \
        const char *place = nm_start(s);                                                       \
        char *stop;                                                                            \
        type value = __nm_real_##name(place, &stop);                                           \
        __nm_read_as_float(place, bytes_of_float(place, stop));                                \
        if (end != NULL)                                                                       \
            *end = (char *)s + (stop - place);                                                 \
        return value;                                                                          \
    }

FLOAT_MODEL(float, strtof)
FLOAT_MODEL(double, strtod)
FLOAT_MODEL(long double, strtold)

double NM_MODEL(atof)(const char *s)
{
    return NM_MODEL(strtod)(s, NULL);
}

typedef int comparison(const void *, const void *);
typedef int comparison_with(const void *, const void *, void *);

/* How to compare two elements: the functions with a context, and those without. */
struct order {
    comparison *compare;
    comparison_with *compare_with;
    void *context;
};

static int ask(const struct order *order, const void *left, const void *right)
{
    return order->compare ? order->compare(left, right)
                          : order->compare_with(left, right, order->context);
}

void *NM_MODEL(bsearch)(const void *key, const void *base, size_t count, size_t size,
                        comparison *compare)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const void *element = (const char *)base + middle * size;
        int order = compare(key, element);
        if (order < 0)
            high = middle;
        else if (order > 0)
            low = middle + 1;
        else
            return (void *)element;
    }
    return NULL;
}

/* A stable merge sort that asks in the order in which glibc up to 2.36 asks. */
static void merge_sort(char *base, size_t count, size_t size, const struct order *order,
                       char *scratch)
{
    if (count <= 1)
        return;
    size_t left_count = count / 2;
    char *left = base, *left_end = base + left_count * size;
    char *right = left_end, *right_end = base + count * size;
    merge_sort(left, left_count, size, order, scratch);
    merge_sort(right, count - left_count, size, order, scratch);
    char *to = scratch;
    while (left < left_end && right < right_end) {
        char **from = ask(order, left, right) <= 0 ? &left : &right;
        memcpy(to, *from, size);
        to += size;
        *from += size;
    }
    /* What is left of the right half is in its place already. */
    memcpy(to, left, (size_t)(left_end - left));
    to += left_end - left;
    memcpy(base, scratch, (size_t)(to - scratch));
}

/* Whether the elements were sorted: if not, libc has to. */
static bool sort(void *base, size_t count, size_t size, const struct order *order)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return false;
    __nm_writes(base, bytes);
    char *place = (char *)nm_place(base);
    size_t elements = nm_value_is_concrete(count) ? count : __nm_settle(count);
    size_t element = nm_value_is_concrete(size) ? size : __nm_settle(size);
    char small[1024];
    char *scratch = elements * element <= sizeof small ? small : malloc(elements * element);
    if (scratch == NULL)
        return false;
    merge_sort(place, elements, element, order, scratch);
    if (scratch != small)
        free(scratch);
    return true;
}

void NM_MODEL(qsort)(void *base, size_t count, size_t size, comparison *compare)
{
    const struct order order = {.compare = compare};
    if (!nm_records() || !sort(base, count, size, &order))
        __nm_real_qsort(base, count, size, compare);
}

void NM_MODEL(qsort_r)(void *base, size_t count, size_t size, comparison_with *compare,
                       void *context)
{
    const struct order order = {.compare_with = compare, .context = context};
    if (!nm_records() || !sort(base, count, size, &order))
        __nm_real_qsort_r(base, count, size, compare, context);
}
