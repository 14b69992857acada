/* Models of <string.h>: the functions that look at bytes.
 *
 * Each asks the real function first wherever that is harmless, learns from its answer which
 * bytes decided it, and walks only if one of them, or an argument, has a label.
 */
#include "model.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(hidden)

static size_t walk_to_end(const char *s)
{
    size_t length = 0;
    while (s[length] != 0)
        length++;
    return length;
}

size_t NM_MODEL(strlen)(const char *s)
{
    if (!nm_records())
        return __nm_real_strlen(s);
    if (nm_value_is_concrete(s)) {
        size_t length = __nm_real_strlen(s);
        if (__nm_is_concrete(s, length + 1))
            return length;
    }
    return walk_to_end(s);
}

size_t NM_MODEL(strnlen)(const char *s, size_t n)
{
    if (!nm_records())
        return __nm_real_strnlen(s, n);
    if (nm_value_is_concrete(s) && nm_value_is_concrete(n)) {
        size_t length = __nm_real_strnlen(s, n);
        if (__nm_is_concrete(s, length < n ? length + 1 : n))
            return length;
    }
    size_t length = 0;
    while (length < n && s[length] != 0)
        length++;
    return length;
}

int NM_MODEL(strcmp)(const char *left, const char *right)
{
    if (!nm_records())
        return __nm_real_strcmp(left, right);
    const unsigned char *a = (const unsigned char *)left, *b = (const unsigned char *)right;
    if (nm_value_is_concrete(a) && nm_value_is_concrete(b)) {
        size_t looked_at = __nm_bytes_compared(left, right, SIZE_MAX);
        if (__nm_is_concrete(a, looked_at) && __nm_is_concrete(b, looked_at))
            return __nm_real_strcmp(left, right);
    }
    for (size_t i = 0;; i++) {
        if (a[i] != b[i])
            return a[i] - b[i];
        if (a[i] == 0)
            return 0;
    }
}

int NM_MODEL(strncmp)(const char *left, const char *right, size_t n)
{
    if (!nm_records())
        return __nm_real_strncmp(left, right, n);
    const unsigned char *a = (const unsigned char *)left, *b = (const unsigned char *)right;
    if (nm_value_is_concrete(a) && nm_value_is_concrete(b) && nm_value_is_concrete(n)) {
        size_t looked_at = __nm_bytes_compared(left, right, n);
        if (__nm_is_concrete(a, looked_at) && __nm_is_concrete(b, looked_at))
            return __nm_real_strncmp(left, right, n);
    }
    for (size_t i = 0; i < n; i++) {
        if (a[i] != b[i])
            return a[i] - b[i];
        if (a[i] == 0)
            return 0;
    }
    return 0;
}

int NM_MODEL(memcmp)(const void *left, const void *right, size_t n)
{
    if (!nm_records())
        return __nm_real_memcmp(left, right, n);
    const unsigned char *a = left, *b = right;
    if (nm_value_is_concrete(a) && nm_value_is_concrete(b) && nm_value_is_concrete(n)
        && __nm_is_concrete(a, n) && __nm_is_concrete(b, n))
        return __nm_real_memcmp(left, right, n);
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return a[i] - b[i];
    return 0;
}

int NM_MODEL(bcmp)(const void *left, const void *right, size_t n)
{
    return NM_MODEL(memcmp)(left, right, n);
}

/* Whether neither the arguments of a search for a byte nor the string searched have labels,
 * down to `found` or, if that is null, to the end. */
static bool search_is_concrete(const char *s, const char *found)
{
    size_t looked_at = (found ? (size_t)(found - s) : __nm_real_strlen(s)) + 1;
    return __nm_is_concrete(s, looked_at);
}

char *NM_MODEL(strchr)(const char *s, int c)
{
    if (!nm_records())
        return __nm_real_strchr(s, c);
    if (nm_value_is_concrete(s) && nm_value_is_concrete(c)) {
        char *found = __nm_real_strchr(s, c);
        if (search_is_concrete(s, found))
            return found;
    }
    for (;; s++) {
        if (*s == (char)c)
            return (char *)s;
        if (*s == 0)
            return NULL;
    }
}

char *NM_MODEL(strchrnul)(const char *s, int c)
{
    char *found = NM_MODEL(strchr)(s, c);
    return found ? found : (char *)s + NM_MODEL(strlen)(s);
}

char *NM_MODEL(strrchr)(const char *s, int c)
{
    if (!nm_records())
        return __nm_real_strrchr(s, c);
    if (nm_value_is_concrete(s) && nm_value_is_concrete(c) && search_is_concrete(s, NULL))
        return __nm_real_strrchr(s, c);
    const char *last = NULL;
    for (;; s++) {
        if (*s == (char)c)
            last = s;
        if (*s == 0)
            return (char *)last;
    }
}

void *NM_MODEL(memchr)(const void *start, int c, size_t n)
{
    if (!nm_records())
        return __nm_real_memchr(start, c, n);
    const unsigned char *s = start;
    if (nm_value_is_concrete(s) && nm_value_is_concrete(c) && nm_value_is_concrete(n)) {
        const unsigned char *found = __nm_real_memchr(start, c, n);
        if (__nm_is_concrete(s, found ? (size_t)(found - s) + 1 : n))
            return (void *)found;
    }
    for (size_t i = 0; i < n; i++)
        if (s[i] == (unsigned char)c)
            return (void *)(s + i);
    return NULL;
}

void *NM_MODEL(memrchr)(const void *start, int c, size_t n)
{
    const unsigned char *s = start;
    while (n-- > 0)
        if (s[n] == (unsigned char)c)
            return (void *)(s + n);
    return NULL;
}

char *NM_MODEL(strstr)(const char *haystack, const char *needle)
{
    if (!nm_records())
        return __nm_real_strstr(haystack, needle);
    if (nm_value_is_concrete(haystack) && nm_value_is_concrete(needle)
        && search_is_concrete(needle, NULL)) {
        char *found = __nm_real_strstr(haystack, needle);
        size_t looked_at = found ? (size_t)(found - haystack) + __nm_real_strlen(needle)
                                 : __nm_real_strlen(haystack) + 1;
        if (__nm_is_concrete(haystack, looked_at))
            return found;
    }
    for (;; haystack++) {
        size_t i = 0;
        while (needle[i] != 0 && haystack[i] == needle[i])
            i++;
        if (needle[i] == 0)
            return (char *)haystack;
        if (haystack[i] == 0)
            return NULL;
    }
}

/* One branch for a whole set: whether `c` is in it. */
static bool is_member(char c, const char *set)
{
    int member = 0;
    for (; *set != 0; set++)
        member |= *set == c;
    return member != 0;
}

/* Whether the first `length` bytes, the one after them, and the whole set have no label. */
static bool span_is_concrete(const char *s, size_t length, const char *set)
{
    return __nm_is_concrete(s, length + 1) && search_is_concrete(set, NULL);
}

size_t NM_MODEL(strspn)(const char *s, const char *set)
{
    if (!nm_records())
        return __nm_real_strspn(s, set);
    if (nm_value_is_concrete(s) && nm_value_is_concrete(set)) {
        size_t length = __nm_real_strspn(s, set);
        if (span_is_concrete(s, length, set))
            return length;
    }
    size_t length = 0;
    while (is_member(s[length], set))
        length++;
    return length;
}

size_t NM_MODEL(strcspn)(const char *s, const char *set)
{
    if (!nm_records())
        return __nm_real_strcspn(s, set);
    if (nm_value_is_concrete(s) && nm_value_is_concrete(set)) {
        size_t length = __nm_real_strcspn(s, set);
        if (span_is_concrete(s, length, set))
            return length;
    }
    size_t length = 0;
    while (s[length] != 0 && !is_member(s[length], set))
        length++;
    return length;
}

char *NM_MODEL(strpbrk)(const char *s, const char *set)
{
    s += NM_MODEL(strcspn)(s, set);
    return *s != 0 ? (char *)s : NULL;
}

/* Copies: the length is found as strlen finds it, the labels move with `memcpy`, whose model
 * is the runtime's. A destination with labels must lose them, so it has to be asked too. */

char *NM_MODEL(strcpy)(char *to, const char *from)
{
    if (!nm_records())
        return __nm_real_strcpy(to, from);
    memcpy(to, from, NM_MODEL(strlen)(from) + 1);
    return to;
}

char *NM_MODEL(stpcpy)(char *to, const char *from)
{
    if (!nm_records())
        return __nm_real_stpcpy(to, from);
    size_t length = NM_MODEL(strlen)(from);
    memcpy(to, from, length + 1);
    return to + length;
}

char *NM_MODEL(strncpy)(char *to, const char *from, size_t n)
{
    if (!nm_records())
        return __nm_real_strncpy(to, from, n);
    size_t length = NM_MODEL(strnlen)(from, n);
    memcpy(to, from, length);
    memset(to + length, 0, n - length);
    return to;
}

char *NM_MODEL(strcat)(char *to, const char *from)
{
    if (!nm_records())
        return __nm_real_strcat(to, from);
    NM_MODEL(strcpy)(to + NM_MODEL(strlen)(to), from);
    return to;
}

char *NM_MODEL(strncat)(char *to, const char *from, size_t n)
{
    if (!nm_records())
        return __nm_real_strncat(to, from, n);
    char *end = to + NM_MODEL(strlen)(to);
    size_t length = NM_MODEL(strnlen)(from, n);
    memcpy(end, from, length);
    end[length] = 0;
    return to;
}

/* Copies on the heap: `malloc` is the runtime's model, which knows the new object's size. */

static char *duplicate(const char *s, size_t length)
{
    char *copy = malloc(length + 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, s, length);
    copy[length] = 0;
    return copy;
}

char *NM_MODEL(strdup)(const char *s)
{
    if (!nm_records())
        return __nm_real_strdup(s);
    return duplicate(s, NM_MODEL(strlen)(s));
}

char *NM_MODEL(strndup)(const char *s, size_t n)
{
    if (!nm_records())
        return __nm_real_strndup(s, n);
    return duplicate(s, NM_MODEL(strnlen)(s, n));
}

/* Tokens: made of the functions above, so they need no second way. */

char *NM_MODEL(strtok_r)(char *s, const char *delimiters, char **save)
{
    if (s == NULL)
        s = *save;
    s += NM_MODEL(strspn)(s, delimiters);
    if (*s == 0) {
        *save = s;
        return NULL;
    }
    char *end = s + NM_MODEL(strcspn)(s, delimiters);
    *save = end;
    if (*end != 0) {
        *end = 0;
        *save = end + 1;
    }
    return s;
}

char *NM_MODEL(strtok)(char *s, const char *delimiters)
{
    static char *save;
    return NM_MODEL(strtok_r)(s, delimiters, &save);
}

char *NM_MODEL(strsep)(char **rest, const char *delimiters)
{
    char *token = *rest;
    if (token == NULL)
        return NULL;
    char *end = token + NM_MODEL(strcspn)(token, delimiters);
    *rest = NULL;
    if (*end != 0) {
        *end = 0;
        *rest = end + 1;
    }
    return token;
}

/* What -D_FORTIFY_SOURCE makes of the copies. */

void __chk_fail(void) __attribute__((noreturn, visibility("default")));

char *NM_MODEL(__strcpy_chk)(char *to, const char *from, size_t room)
{
    if (NM_MODEL(strlen)(from) >= room)
        __chk_fail();
    return NM_MODEL(strcpy)(to, from);
}

char *NM_MODEL(__stpcpy_chk)(char *to, const char *from, size_t room)
{
    if (NM_MODEL(strlen)(from) >= room)
        __chk_fail();
    return NM_MODEL(stpcpy)(to, from);
}

char *NM_MODEL(__strncpy_chk)(char *to, const char *from, size_t n, size_t room)
{
    if (n > room)
        __chk_fail();
    return NM_MODEL(strncpy)(to, from, n);
}

char *NM_MODEL(__strcat_chk)(char *to, const char *from, size_t room)
{
    size_t used = NM_MODEL(strlen)(to);
    if (used >= room || NM_MODEL(strlen)(from) >= room - used)
        __chk_fail();
    return NM_MODEL(strcat)(to, from);
}

char *NM_MODEL(__strncat_chk)(char *to, const char *from, size_t n, size_t room)
{
    size_t used = NM_MODEL(strlen)(to);
    if (used >= room || NM_MODEL(strnlen)(from, n) >= room - used)
        __chk_fail();
    return NM_MODEL(strncat)(to, from, n);
}
