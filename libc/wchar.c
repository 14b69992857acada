/* Models of <wchar.h>, <wctype.h> and the multibyte functions of <stdlib.h>: ASCII.
 *
 * Where the locale's tables are ASCII's, in the C locale and in those of UTF-8, a byte below 128
 * is the character of that number, and its classes are ctype's. One branch says that a byte or
 * character is one of those; every other goes to libc, and what comes back is concrete.
 */
#include "model.h"
#include "text.h"

#include <wchar.h>
#include <wctype.h>

#pragma GCC visibility push(hidden)

/* Whether `n` bytes at `s` start with an ASCII character, in a conversion that starts anew. */
static bool starts_with_ascii(const char *s, size_t n, const mbstate_t *state)
{
    return s != NULL && n != 0 && state != NULL && __nm_ctype_is_ascii() && __nm_real_mbsinit(state)
        && (unsigned char)*s < 128;
}

size_t NM_MODEL(mbrtowc)(wchar_t *to, const char *s, size_t n, mbstate_t *state)
{
    if (!nm_records() || !starts_with_ascii(s, n, state))
        return __nm_real_mbrtowc(to, s, n, state);
    if (to != NULL)
        *to = (unsigned char)*s;
    return *s != 0;
}

size_t NM_MODEL(mbrlen)(const char *s, size_t n, mbstate_t *state)
{
    if (!nm_records() || !starts_with_ascii(s, n, state))
        return __nm_real_mbrlen(s, n, state);
    return *s != 0;
}

/* mbtowc and mblen keep a state of their own, which ASCII does not change in these locales. */
static bool is_ascii_string(const char *s, size_t n)
{
    return s != NULL && n != 0 && __nm_ctype_is_ascii() && (unsigned char)*s < 128;
}

int NM_MODEL(mbtowc)(wchar_t *to, const char *s, size_t n)
{
    if (!nm_records() || !is_ascii_string(s, n))
        return __nm_real_mbtowc(to, s, n);
    if (to != NULL)
        *to = (unsigned char)*s;
    return *s != 0;
}

int NM_MODEL(mblen)(const char *s, size_t n)
{
    if (!nm_records() || !is_ascii_string(s, n))
        return __nm_real_mblen(s, n);
    return *s != 0;
}

static bool is_ascii(wint_t c)
{
    return nm_records() && __nm_ctype_is_ascii() && c < 128;
}

size_t NM_MODEL(wcrtomb)(char *to, wchar_t c, mbstate_t *state)
{
    if (to == NULL || state == NULL || !is_ascii((wint_t)c) || !__nm_real_mbsinit(state))
        return __nm_real_wcrtomb(to, c, state);
    *to = (char)c;
    return 1;
}

wint_t NM_MODEL(btowc)(int c)
{
    if (c == EOF || !is_ascii((wint_t)c))
        return __nm_real_btowc(c);
    return (wint_t)c;
}

int NM_MODEL(wctob)(wint_t c)
{
    return is_ascii(c) ? (int)c : __nm_real_wctob(c);
}

/* Characters before the zero that ends a wide string: each was looked at. */
size_t NM_MODEL(wcslen)(const wchar_t *s)
{
    if (!nm_records())
        return __nm_real_wcslen(s);
    __nm_reads(s, sizeof *s);
    const wchar_t *start = (const wchar_t *)nm_place(s);
    size_t length = 0;
    while (start[length] != 0)
        length++;
    return length;
}

wchar_t *NM_MODEL(wcscpy)(wchar_t *to, const wchar_t *from)
{
    if (!nm_records())
        return __nm_real_wcscpy(to, from);
    size_t size = (NM_MODEL(wcslen)(from) + 1) * sizeof *to;
    __nm_writes(to, size);
    const char *place = nm_place(to), *source = nm_place(from);
    __nm_real_memmove((char *)place, source, size);
    __nm_move_labels((char *)place, source, size);
    return to;
}

wchar_t *NM_MODEL(wcscat)(wchar_t *to, const wchar_t *from)
{
    if (!nm_records())
        return __nm_real_wcscat(to, from);
    NM_MODEL(wcscpy)(to + NM_MODEL(wcslen)(to), from);
    return to;
}

/* Zero has no width, control characters have -1. */
int NM_MODEL(wcwidth)(wchar_t c)
{
    if (!is_ascii((wint_t)c))
        return __nm_real_wcwidth(c);
    int is_control = (c < 32) | (c == 127), is_zero = c == 0;
    return 1 - 2 * is_control + is_zero;
}

wint_t NM_MODEL(towlower)(wint_t c)
{
    return is_ascii(c) ? (wint_t)nm_to_lower((int)c) : __nm_real_towlower(c);
}

wint_t NM_MODEL(towupper)(wint_t c)
{
    return is_ascii(c) ? c & ~(wint_t)(nm_is_lower((int)c) << 5) : __nm_real_towupper(c);
}

/* glibc answers with the same bits as for bytes, but for digits. */
#define WIDE_CLASS(name, narrow)                                                               \
    int NM_MODEL(narrow)(int c);                                                               \
    int NM_MODEL(name)(wint_t c)                                                               \
    {                                                                                          \
        return is_ascii(c) ? NM_MODEL(narrow)((int)c) : __nm_real_##name(c);                   \
    }

WIDE_CLASS(iswalnum, isalnum)
WIDE_CLASS(iswalpha, isalpha)
WIDE_CLASS(iswcntrl, iscntrl)
WIDE_CLASS(iswgraph, isgraph)
WIDE_CLASS(iswlower, islower)
WIDE_CLASS(iswprint, isprint)
WIDE_CLASS(iswpunct, ispunct)
WIDE_CLASS(iswspace, isspace)
WIDE_CLASS(iswupper, isupper)
WIDE_CLASS(iswxdigit, isxdigit)

int NM_MODEL(iswdigit)(wint_t c)
{
    return is_ascii(c) ? nm_is_digit((int)c) : __nm_real_iswdigit(c);
}

int NM_MODEL(iswblank)(wint_t c)
{
    return is_ascii(c) ? (c == ' ') | (c == '\t') : __nm_real_iswblank(c);
}
