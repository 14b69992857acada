/* The real libc functions under names that no model replaces, and the questions that models
 * ask about shadow memory and the locale. Compiled by plain clang: nothing here is recorded.
 */
#define _GNU_SOURCE 1
#include "model.h"
#include "format.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <langinfo.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <wctype.h>

/* <libgen.h> has another `basename`. */
extern char *__xpg_basename(char *path);

#undef strdup
#undef strndup

bool __nm_is_concrete(const void *start, size_t size)
{
    const unsigned char *base = __nm_summary.base;
    unsigned long mask = __nm_summary.mask;
    if (size == 0)
        return true;
    uintptr_t first = (uintptr_t)start >> 3;
    uintptr_t last = ((uintptr_t)start + size - 1) >> 3;
    for (uintptr_t granule = first; granule <= last; granule++) {
        /* Eight summary bytes at once where they lie in a row. */
        if (last - granule >= 8 && (granule & mask) + 8 <= mask) {
            uint64_t eight;
            memcpy(&eight, base + (granule & mask), sizeof eight);
            if (eight != 0)
                return false;
            granule += 7;
        } else if (base[granule & mask] != 0) {
            return false;
        }
    }
    return true;
}

size_t __nm_bytes_compared(const char *a, const char *b, size_t limit)
{
    for (size_t i = 0; i < limit; i++)
        if (a[i] != b[i] || a[i] == 0)
            return i + 1;
    return limit;
}

size_t __nm_bytes_equal(const char *a, const char *b, size_t limit, bool folded)
{
    const unsigned char *left = (const unsigned char *)a, *right = (const unsigned char *)b;
    size_t i = 0;
    while (i < limit
        && (left[i] == right[i] || (folded && nm_to_lower(left[i]) == nm_to_lower(right[i]))))
        i++;
    return i;
}

/* Compares the locale's three tables with ASCII, for every index they have. */
static bool tables_are_ascii(const unsigned short *classes, const int *lower, const int *upper)
{
    for (int c = -128; c < 256; c++) {
        bool is_ascii = c >= 0 && c < 128;
        int is_lower = is_ascii && nm_is_lower(c);
        int is_upper = is_ascii && nm_is_upper(c);
        int is_digit = is_ascii && nm_is_digit(c);
        unsigned letter = is_ascii ? ((unsigned)c | 32) - 'a' : 26;
        bool is_graph = is_ascii && c > 32 && c < 127;
        unsigned short expected = 0;
        expected |= is_upper ? _ISupper : 0;
        expected |= is_lower ? _ISlower : 0;
        expected |= letter < 26 ? _ISalpha | _ISalnum : 0;
        expected |= is_digit ? _ISdigit | _ISalnum | _ISxdigit : 0;
        expected |= letter < 6 ? _ISxdigit : 0;
        expected |= is_ascii && nm_is_space(c) ? _ISspace : 0;
        expected |= c == ' ' || c == '\t' ? _ISblank : 0;
        expected |= is_graph || c == ' ' ? _ISprint : 0;
        expected |= is_graph ? _ISgraph : 0;
        expected |= is_ascii && (c < 32 || c == 127) ? _IScntrl : 0;
        expected |= is_graph && letter >= 26 && !is_digit ? _ISpunct : 0;
        if (classes[c] != expected)
            return false;
        int as_byte = c == EOF ? EOF : (unsigned char)c;
        if (lower[c] != as_byte + 32 * is_upper || upper[c] != as_byte - 32 * is_lower)
            return false;
    }
    return true;
}

bool __nm_locale_is_ascii(locale_t locale)
{
    return tables_are_ascii(locale->__ctype_b, locale->__ctype_tolower, locale->__ctype_toupper);
}

bool __nm_collates_bytes(void)
{
    /* The number of rules for an order is not a string but a word. */
    return (uint32_t)(uintptr_t)nl_langinfo(_NL_COLLATE_NRULES) == 0;
}

bool __nm_ctype_is_ascii(void)
{
    /* A locale has tables of its own, and each thread may have its own locale. */
    static _Thread_local const unsigned short *known_classes;
    static _Thread_local bool known_answer;
    const unsigned short *classes = *__ctype_b_loc();
    if (classes != known_classes) {
        known_answer = tables_are_ascii(classes, *__ctype_tolower_loc(), *__ctype_toupper_loc());
        known_classes = classes;
    }
    return known_answer;
}

#define REAL(result, name, parameters, arguments)                                              \
    result __nm_real_##name parameters { return name arguments; }

#define REAL_VOID(name, parameters, arguments)                                                 \
    void __nm_real_##name parameters { name arguments; }

REAL(size_t, strlen, (const char *s), (s))
REAL(size_t, strnlen, (const char *s, size_t n), (s, n))
REAL(int, strcmp, (const char *a, const char *b), (a, b))
REAL(int, strncmp, (const char *a, const char *b, size_t n), (a, b, n))
REAL(int, strcoll, (const char *a, const char *b), (a, b))
REAL(int, strcasecmp, (const char *a, const char *b), (a, b))
REAL(int, strncasecmp, (const char *a, const char *b, size_t n), (a, b, n))
REAL(int, strcasecmp_l, (const char *a, const char *b, locale_t locale), (a, b, locale))
REAL(int, strncasecmp_l, (const char *a, const char *b, size_t n, locale_t locale), (a, b, n, locale))
REAL(int, memcmp, (const void *a, const void *b, size_t n), (a, b, n))
REAL(char *, strchr, (const char *s, int c), (s, c))
REAL(char *, strrchr, (const char *s, int c), (s, c))
REAL(char *, strchrnul, (const char *s, int c), (s, c))
REAL(void *, memchr, (const void *s, int c, size_t n), (s, c, n))
REAL(void *, memrchr, (const void *s, int c, size_t n), (s, c, n))
REAL(void *, rawmemchr, (const void *s, int c), (s, c))
REAL(char *, strstr, (const char *haystack, const char *needle), (haystack, needle))
REAL(char *, strcasestr, (const char *haystack, const char *needle), (haystack, needle))
REAL(void *, memmem, (const void *haystack, size_t count, const void *needle, size_t size), (haystack, count, needle, size))
REAL(size_t, strspn, (const char *s, const char *set), (s, set))
REAL(size_t, strcspn, (const char *s, const char *set), (s, set))
REAL(char *, strpbrk, (const char *s, const char *set), (s, set))
REAL(char *, strtok_r, (char *s, const char *delimiters, char **save), (s, delimiters, save))
REAL(char *, strsep, (char **rest, const char *delimiters), (rest, delimiters))
REAL(char *, __xpg_basename, (char *path), (path))
REAL(void *, memmove, (void *to, const void *from, size_t n), (to, from, n))
REAL(void *, memset, (void *to, int c, size_t n), (to, c, n))
REAL(void *, memccpy, (void *to, const void *from, int c, size_t n), (to, from, c, n))
REAL_VOID(swab, (const void *from, void *to, ssize_t n), (from, to, n))
REAL(char *, strcpy, (char *to, const char *from), (to, from))
REAL(char *, strncpy, (char *to, const char *from, size_t n), (to, from, n))
REAL(char *, strcat, (char *to, const char *from), (to, from))
REAL(char *, strncat, (char *to, const char *from, size_t n), (to, from, n))
REAL(char *, stpcpy, (char *to, const char *from), (to, from))
REAL(char *, stpncpy, (char *to, const char *from, size_t n), (to, from, n))
REAL(size_t, strxfrm, (char *to, const char *from, size_t n), (to, from, n))
REAL(char *, strdup, (const char *s), (s))
REAL(char *, strndup, (const char *s, size_t n), (s, n))
REAL(int, isalpha, (int c), (c))
REAL(int, isalpha_l, (int c, locale_t locale), (c, locale))
REAL(int, isdigit, (int c), (c))
REAL(int, isdigit_l, (int c, locale_t locale), (c, locale))
REAL(int, isalnum, (int c), (c))
REAL(int, isalnum_l, (int c, locale_t locale), (c, locale))
REAL(int, isspace, (int c), (c))
REAL(int, isspace_l, (int c, locale_t locale), (c, locale))
REAL(int, isupper, (int c), (c))
REAL(int, isupper_l, (int c, locale_t locale), (c, locale))
REAL(int, islower, (int c), (c))
REAL(int, islower_l, (int c, locale_t locale), (c, locale))
REAL(int, ispunct, (int c), (c))
REAL(int, ispunct_l, (int c, locale_t locale), (c, locale))
REAL(int, isprint, (int c), (c))
REAL(int, isprint_l, (int c, locale_t locale), (c, locale))
REAL(int, isxdigit, (int c), (c))
REAL(int, isxdigit_l, (int c, locale_t locale), (c, locale))
REAL(int, iscntrl, (int c), (c))
REAL(int, iscntrl_l, (int c, locale_t locale), (c, locale))
REAL(int, isgraph, (int c), (c))
REAL(int, isgraph_l, (int c, locale_t locale), (c, locale))
REAL(int, isblank, (int c), (c))
REAL(int, isblank_l, (int c, locale_t locale), (c, locale))
REAL(int, tolower, (int c), (c))
REAL(int, tolower_l, (int c, locale_t locale), (c, locale))
REAL(int, toupper, (int c), (c))
REAL(int, toupper_l, (int c, locale_t locale), (c, locale))
REAL(long, strtol, (const char *s, char **end, int base), (s, end, base))
REAL(unsigned long, strtoul, (const char *s, char **end, int base), (s, end, base))
REAL(float, strtof, (const char *s, char **end), (s, end))
REAL(double, strtod, (const char *s, char **end), (s, end))
REAL(long double, strtold, (const char *s, char **end), (s, end))

/* <libgen.h> would make this name a macro for the function of POSIX. */
extern char *gnu_basename(const char *path) __asm__("basename");

char *__nm_real_basename(const char *path)
{
    return gnu_basename(path);
}

/* Functions that the headers declare only when they use them. */
#define REAL_CHECKED(name, parameters, arguments)                                              \
    extern char *name parameters;                                                              \
    char *__nm_real_##name parameters { return name arguments; }

REAL_CHECKED(__strcpy_chk, (char *to, const char *from, size_t room), (to, from, room))
REAL_CHECKED(__stpcpy_chk, (char *to, const char *from, size_t room), (to, from, room))
REAL_CHECKED(__strncpy_chk, (char *to, const char *from, size_t n, size_t room), (to, from, n, room))
REAL_CHECKED(__stpncpy_chk, (char *to, const char *from, size_t n, size_t room), (to, from, n, room))
REAL_CHECKED(__strcat_chk, (char *to, const char *from, size_t room), (to, from, room))
REAL_CHECKED(__strncat_chk, (char *to, const char *from, size_t n, size_t room), (to, from, n, room))

void __nm_real_qsort(void *base, size_t count, size_t size,
                     int (*compare)(const void *, const void *))
{
    qsort(base, count, size, compare);
}

void __nm_real_qsort_r(void *base, size_t count, size_t size,
                       int (*compare)(const void *, const void *, void *), void *context)
{
    qsort_r(base, count, size, compare, context);
}

/* The headers send `vsscanf` to the C99 function (`%a` is a conversion) or to the older one
 * (`%a` is a modifier): here both are wanted, so they are named as the linker knows them. */
extern int old_vsscanf(const char *s, const char *format, va_list list) __asm__("vsscanf");
extern int old_vfscanf(FILE *stream, const char *format, va_list list) __asm__("vfscanf");
extern int c99_vsscanf(const char *s, const char *format, va_list list) __asm__("__isoc99_vsscanf");
extern int c99_vfscanf(FILE *stream, const char *format, va_list list) __asm__("__isoc99_vfscanf");

int __nm_real_vsscanf(const char *s, const char *format, va_list list)
{
    return old_vsscanf(s, format, list);
}

int __nm_real_vfscanf(FILE *stream, const char *format, va_list list)
{
    return old_vfscanf(stream, format, list);
}

int __nm_real_isoc99_vsscanf(const char *s, const char *format, va_list list)
{
    return c99_vsscanf(s, format, list);
}

int __nm_real_isoc99_vfscanf(FILE *stream, const char *format, va_list list)
{
    return c99_vfscanf(stream, format, list);
}

/* Printing. The fortified functions are declared by no header. */
extern int __vsprintf_chk(char *buffer, int flag, size_t object, const char *text, va_list list);
extern int __vsnprintf_chk(char *buffer, size_t room, int flag, size_t object, const char *text,
                           va_list list);
extern int __vasprintf_chk(char **buffer, int flag, const char *text, va_list list);
extern int __vprintf_chk(int flag, const char *text, va_list list);
extern int __vfprintf_chk(FILE *stream, int flag, const char *text, va_list list);
extern int __vdprintf_chk(int fd, int flag, const char *text, va_list list);

REAL(int, vsprintf, (char *buffer, const char *text, va_list list), (buffer, text, list))
REAL(int, vsnprintf, (char *buffer, size_t room, const char *text, va_list list),
     (buffer, room, text, list))
REAL(int, vasprintf, (char **buffer, const char *text, va_list list), (buffer, text, list))
REAL(int, vprintf, (const char *text, va_list list), (text, list))
REAL(int, vfprintf, (FILE *stream, const char *text, va_list list), (stream, text, list))
REAL(int, vdprintf, (int fd, const char *text, va_list list), (fd, text, list))
REAL(int, __vprintf_chk, (int flag, const char *text, va_list list), (flag, text, list))
REAL(int, __vfprintf_chk, (FILE *stream, int flag, const char *text, va_list list),
     (stream, flag, text, list))
REAL(int, __vdprintf_chk, (int fd, int flag, const char *text, va_list list), (fd, flag, text, list))
REAL(int, puts, (const char *s), (s))
REAL(int, fputs, (const char *s, FILE *stream), (s, stream))
REAL(int, fputs_unlocked, (const char *s, FILE *stream), (s, stream))
REAL(size_t, fwrite, (const void *start, size_t size, size_t count, FILE *stream),
     (start, size, count, stream))
REAL(size_t, fwrite_unlocked, (const void *start, size_t size, size_t count, FILE *stream),
     (start, size, count, stream))
REAL(ssize_t, write, (int fd, const void *start, size_t size), (fd, start, size))

int __nm_real_vsprintf_chk(char *buffer, int flag, size_t object, const char *text, va_list list)
{
    return __vsprintf_chk(buffer, flag, object, text, list);
}

int __nm_real_vsnprintf_chk(char *buffer, size_t room, int flag, size_t object, const char *text,
                            va_list list)
{
    return __vsnprintf_chk(buffer, room, flag, object, text, list);
}

int __nm_real_vasprintf_chk(char **buffer, int flag, const char *text, va_list list)
{
    return __vasprintf_chk(buffer, flag, text, list);
}

void __nm_real_move(void *to, void *from, size_t size)
{
    memcpy(to, from, size);
    free(from);
}

int __nm_real_put_count(char *to, const char *before, int count)
{
    *to = 0;
    return count < 0 ? 0 : sprintf(to, "%s%d", before, count);
}

int __nm_real_length(const char *conversion, enum nm_passed passed, const union nm_value *value)
{
    switch (passed) {
    case NM_INT:
        return snprintf(NULL, 0, conversion, (int)value->integer);
    case NM_LONG:
        return snprintf(NULL, 0, conversion, value->integer);
    case NM_POINTER:
        return snprintf(NULL, 0, conversion, value->pointer);
    case NM_DOUBLE:
        return snprintf(NULL, 0, conversion, value->number);
    case NM_LONG_DOUBLE:
        return snprintf(NULL, 0, conversion, value->long_number);
    case NM_UNUSED: /* %m */
        return snprintf(NULL, 0, conversion, 0);
    }
    return -1;
}

REAL(char *, getenv, (const char *name), (name))

/* What `getopt` is where POSIX is asked for. */
extern int __posix_getopt(int count, char *const *arguments, const char *options);
REAL(int, getopt, (int count, char *const *arguments, const char *options), (count, arguments, options))
REAL(int, __posix_getopt, (int count, char *const *arguments, const char *options),
     (count, arguments, options))
REAL(int, getopt_long,
     (int count, char *const *arguments, const char *options, const struct option *names, int *name),
     (count, arguments, options, names, name))
REAL(int, getopt_long_only,
     (int count, char *const *arguments, const char *options, const struct option *names, int *name),
     (count, arguments, options, names, name))

REAL(int, mbsinit, (const mbstate_t *state), (state))
REAL(size_t, mbrtowc, (wchar_t *to, const char *s, size_t n, mbstate_t *state), (to, s, n, state))
REAL(size_t, mbrlen, (const char *s, size_t n, mbstate_t *state), (s, n, state))
REAL(size_t, wcrtomb, (char *to, wchar_t c, mbstate_t *state), (to, c, state))
REAL(int, mbtowc, (wchar_t *to, const char *s, size_t n), (to, s, n))
REAL(int, mblen, (const char *s, size_t n), (s, n))
REAL(wint_t, btowc, (int c), (c))
REAL(int, wctob, (wint_t c), (c))
REAL(size_t, wcslen, (const wchar_t *s), (s))
REAL(wchar_t *, wcscpy, (wchar_t *to, const wchar_t *from), (to, from))
REAL(wchar_t *, wcscat, (wchar_t *to, const wchar_t *from), (to, from))
REAL(int, wcwidth, (wchar_t c), (c))
REAL(wint_t, towlower, (wint_t c), (c))
REAL(wint_t, towupper, (wint_t c), (c))
REAL(int, iswalnum, (wint_t c), (c))
REAL(int, iswalpha, (wint_t c), (c))
REAL(int, iswblank, (wint_t c), (c))
REAL(int, iswcntrl, (wint_t c), (c))
REAL(int, iswdigit, (wint_t c), (c))
REAL(int, iswgraph, (wint_t c), (c))
REAL(int, iswlower, (wint_t c), (c))
REAL(int, iswprint, (wint_t c), (c))
REAL(int, iswpunct, (wint_t c), (c))
REAL(int, iswspace, (wint_t c), (c))
REAL(int, iswupper, (wint_t c), (c))
REAL(int, iswxdigit, (wint_t c), (c))

int __nm_real_scan_float(const char *text, int width, int size, long double *value, int *used)
{
    char format[32];
    int at = sprintf(format, "%%");
    if (width > 0)
        at += sprintf(format + at, "%d", width);
    sprintf(format + at, "%sf%%n", size == 2 ? "L" : size == 1 ? "l" : "");
    float small = 0;
    double middle = 0;
    int matched = sscanf(text, format, size == 2 ? (void *)value : size == 1 ? (void *)&middle : (void *)&small, used);
    if (size == 1)
        *value = middle;
    else if (size == 0)
        *value = small;
    return matched;
}
