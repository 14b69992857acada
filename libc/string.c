/* Models of <string.h>: lengths and comparisons.
 *
 * Each asks the real function first wherever that is harmless, learns from its answer which
 * bytes decided it, and walks only if one of them, or an argument, has a label. A comparison
 * walks to the first difference; if that is at an open end, the path says how long the
 * string is, as it must.
 */
#include "text.h"

#include <string.h>

#pragma GCC visibility push(hidden)

size_t NM_MODEL(strlen)(const char *s)
{
    if (!nm_records())
        return __nm_real_strlen(s);
    return nm_length(s);
}

size_t NM_MODEL(strnlen)(const char *s, size_t n)
{
    if (!nm_records())
        return __nm_real_strnlen(s, n);
    struct nm_text text = nm_measure(s, n);
    nm_end(&text);
    return text.length;
}

static int as_is(int c)
{
    return c;
}

/* Two strings, of which the first `count` bytes are looked at in this run. */
struct pair {
    const char *left, *right; /* where, without a label */
    size_t count, limit;
};

/* The path knows from here on how the comparison of strings came out. */
static int compare(const char *left, const char *right, const struct pair *pair)
{
    const unsigned char *a = (const unsigned char *)left, *b = (const unsigned char *)right;
    for (size_t i = 0; i < pair->count; i++) {
        if (i + 1 == pair->count)
            nm_hint_same(pair->left, pair->right, i, pair->limit, false);
        if (a[i] != b[i])
            return a[i] - b[i];
        if (a[i] == 0)
            return 0;
    }
    return 0;
}

int NM_MODEL(strncmp)(const char *left, const char *right, size_t n)
{
    if (!nm_records())
        return __nm_real_strncmp(left, right, n);
    if (__nm_explores())
        return __nm_model_step_compare(left, right, n, as_is);
    const char *a = n == 0 ? left : nm_start(left), *b = n == 0 ? right : nm_start(right);
    size_t limit = nm_value_is_concrete(n) ? n : __nm_settle(n);
    size_t looked_at = __nm_bytes_compared(a, b, limit);
    /* How much is read depends on the bytes: no more than up to the end of the shorter one. */
    __nm_reads(left, limit > 0);
    __nm_reads(right, limit > 0);
    const char *c = nm_moving(left, a), *d = nm_moving(right, b);
    bool stays = nm_value_is_concrete(c) && nm_value_is_concrete(d);
    if (stays && __nm_is_concrete(a, looked_at) && __nm_is_concrete(b, looked_at))
        return __nm_real_strncmp(a, b, limit);
    return compare(c, d, &(struct pair){ a, b, looked_at, limit });
}

int NM_MODEL(strcmp)(const char *left, const char *right)
{
    if (!nm_records())
        return __nm_real_strcmp(left, right);
    return NM_MODEL(strncmp)(left, right, SIZE_MAX);
}

int NM_MODEL(memcmp)(const void *left, const void *right, size_t n)
{
    if (!nm_records())
        return __nm_real_memcmp(left, right, n);
    __nm_reads(left, n);
    __nm_reads(right, n);
    const char *a = nm_place(left), *b = nm_place(right);
    size_t count = nm_value_is_concrete(n) ? n : __nm_settle(n);
    const char *c = nm_moving(left, a), *d = nm_moving(right, b);
    bool stays = nm_value_is_concrete(c) && nm_value_is_concrete(d);
    if (stays && __nm_is_concrete(a, count) && __nm_is_concrete(b, count))
        return __nm_real_memcmp(a, b, count);
    size_t equal = __nm_bytes_equal(a, b, count, false);
    for (size_t i = 0; i < count; i++) {
        if (i == equal)
            nm_hint_equal(a, b, i, nm_common_room(a, b, count), false);
        if (c[i] != d[i])
            return (unsigned char)c[i] - (unsigned char)d[i];
    }
    return 0;
}

int NM_MODEL(bcmp)(const void *left, const void *right, size_t n)
{
    return NM_MODEL(memcmp)(left, right, n);
}

int NM_MODEL(__memcmpeq)(const void *left, const void *right, size_t n)
{
    return NM_MODEL(memcmp)(left, right, n);
}

/* In a locale that has an order of its own libc answers. */
int NM_MODEL(strcoll)(const char *left, const char *right)
{
    if (nm_records() && __nm_collates_bytes())
        return NM_MODEL(strcmp)(left, right);
    return __nm_real_strcoll(left, right);
}
