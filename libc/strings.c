/* Models of <strings.h>: comparisons that ignore case, and first bits.
 *
 * Both letters are folded by a formula without a branch, so one branch a byte is all that the
 * path learns. Where the locale's letters are not ASCII's the real function answers.
 */
#include "text.h"

#include <strings.h>

#pragma GCC visibility push(hidden)

static int compare_folded(const char *left, const char *right, size_t n)
{
    if (__nm_explores())
        return __nm_model_step_compare(left, right, n, nm_to_lower);
    const char *from = nm_start(left), *with = nm_start(right);
    const unsigned char *a = (const unsigned char *)nm_moving(left, from);
    const unsigned char *b = (const unsigned char *)nm_moving(right, with);
    size_t limit = nm_value_is_concrete(n) ? n : __nm_settle(n);
    size_t equal = __nm_bytes_equal(from, with, nm_common_room(from, with, limit), true);
    for (size_t i = 0; i < limit; i++) {
        if (i == equal)
            nm_hint_same(from, with, i, limit, true);
        int x = nm_to_lower(a[i]), y = nm_to_lower(b[i]);
        if (x != y)
            return x - y;
        if (x == 0)
            return 0;
    }
    return 0;
}

int NM_MODEL(strncasecmp)(const char *left, const char *right, size_t n)
{
    if (!nm_records() || !__nm_ctype_is_ascii())
        return __nm_real_strncasecmp(left, right, n);
    return compare_folded(left, right, n);
}

int NM_MODEL(strcasecmp)(const char *left, const char *right)
{
    if (!nm_records() || !__nm_ctype_is_ascii())
        return __nm_real_strcasecmp(left, right);
    return compare_folded(left, right, SIZE_MAX);
}

int NM_MODEL(strncasecmp_l)(const char *left, const char *right, size_t n, locale_t locale)
{
    if (!nm_records() || !__nm_locale_is_ascii(locale))
        return __nm_real_strncasecmp_l(left, right, n, locale);
    return compare_folded(left, right, n);
}

int NM_MODEL(strcasecmp_l)(const char *left, const char *right, locale_t locale)
{
    if (!nm_records() || !__nm_locale_is_ascii(locale))
        return __nm_real_strcasecmp_l(left, right, locale);
    return compare_folded(left, right, SIZE_MAX);
}

/* The compiler's own are made of operations that are instrumented. */

int NM_MODEL(ffs)(int bits)
{
    return __builtin_ffs(bits);
}

int NM_MODEL(ffsl)(long bits)
{
    return __builtin_ffsl(bits);
}

int NM_MODEL(ffsll)(long long bits)
{
    return __builtin_ffsll(bits);
}
