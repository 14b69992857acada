/* Models of <string.h>: searches, and the tokens made of them.
 *
 * Each asks the real function where it would stop, and then makes the decisions about the
 * bytes up to there branches of the path; bytes behind that place do not matter. The loops
 * below therefore never really stop early: their branches are all that they are for.
 */
#include "text.h"

#include <string.h>

#pragma GCC visibility push(hidden)

/* The newline that ends a line is where the line's length says, and the only one in it: a
 * search that finds it needs no branches. `found` is such a newline in a string that ends
 * behind it. */
static bool moves_with_length(const char *found)
{
    return __nm_ends_line(found) && nm_is_end(found + 1) && __nm_has_open_end(found + 1);
}

static bool seeks_newline(int c)
{
    return nm_value_is_concrete(c) && (char)c == '\n';
}

/* A byte for the real functions. */
static int plain(int c)
{
    return nm_value_is_concrete(c) ? c : (int)__nm_recorded((size_t)c);
}

/* Where that newline is, `index` in this run. */
static size_t moving_index(const char *s, size_t index)
{
    return __nm_open_length(s, index + 1) - 1;
}

/* A search came to the end of a string: the path knows that it is there, but not
 * where, if it is an open one. */
static void came_to_end(const char *bytes, const char *end)
{
    if (__nm_is_concrete(end, 1))
        return;
    __nm_terminated(bytes);
    if (!__nm_has_open_end(end))
        nm_walk(end, 1);
}

/* The path knows from here on that none of the first `count` bytes is `c` or a zero. */
static void pass_bytes(const char *bytes, size_t count, int c)
{
    size_t i = 0;
    while (i < count && !((bytes[i] == (char)c) | (bytes[i] == 0)))
        i++;
}

/* And that this one is `c`. */
static void meet_byte(const char *byte, int c)
{
    nm_know(*byte == (char)c);
}

char *NM_MODEL(strchr)(const char *s, int c)
{
    if (!nm_records())
        return __nm_real_strchr(s, c);
    if (__nm_explores())
        return __nm_model_step_find(s, (char)c);
    const char *bytes = nm_start(s);
    const char *found = __nm_real_strchr(bytes, plain(c));
    size_t count = found ? (size_t)(found - bytes) : __nm_real_strlen(bytes);
    if (nm_value_is_concrete(c) && (char)c == 0)
        return (char *)s + nm_length(s);
    if (nm_value_is_concrete(c) && __nm_is_concrete(bytes, count + 1))
        return found ? (char *)s + count : NULL;
    if (found != NULL && seeks_newline(c) && moves_with_length(found))
        return (char *)s + moving_index(s, count);
    pass_bytes(bytes, count, c);
    if (found == NULL) {
        came_to_end(bytes, bytes + count);
        return NULL;
    }
    meet_byte(found, c);
    return (char *)s + count;
}

char *NM_MODEL(index)(const char *s, int c)
{
    return NM_MODEL(strchr)(s, c);
}

char *NM_MODEL(strchrnul)(const char *s, int c)
{
    if (!nm_records())
        return __nm_real_strchrnul(s, c);
    if (__nm_explores()) {
        while (nm_step_byte(s) != (char)c && *s != 0)
            s++;
        return (char *)s;
    }
    char *found = NM_MODEL(strchr)(s, c);
    /* Which of the two it is the path knows already. */
    const char *bytes = nm_start(s);
    if (nm_is_end(__nm_real_strchrnul(bytes, plain(c))))
        return (char *)s + nm_length(s);
    return found;
}

char *NM_MODEL(strrchr)(const char *s, int c)
{
    if (!nm_records())
        return __nm_real_strrchr(s, c);
    if (__nm_explores())
        return __nm_model_step_find_last(s, __nm_model_step_length(s, SIZE_MAX) + 1, (char)c);
    const char *bytes = nm_start(s);
    const char *found = __nm_real_strrchr(bytes, plain(c));
    size_t length = __nm_real_strlen(bytes);
    if (nm_value_is_concrete(c) && (char)c == 0)
        return (char *)s + nm_length(s);
    size_t index = found ? (size_t)(found - bytes) : 0;
    if (nm_value_is_concrete(c) && __nm_is_concrete(bytes, length + 1))
        return found ? (char *)s + index : NULL;
    if (found != NULL && seeks_newline(c) && moves_with_length(found))
        return (char *)s + moving_index(s, index);
    came_to_end(bytes, bytes + length);
    pass_bytes(bytes + (found ? index + 1 : 0), length - (found ? index + 1 : 0), c);
    if (found == NULL)
        return NULL;
    meet_byte(found, c);
    return (char *)s + index;
}

char *NM_MODEL(rindex)(const char *s, int c)
{
    return NM_MODEL(strrchr)(s, c);
}

/* GNU's: an empty string behind a last slash. */
char *NM_MODEL(basename)(const char *path)
{
    if (!nm_records())
        return __nm_real_basename(path);
    char *slash = NM_MODEL(strrchr)(path, '/');
    return slash != NULL ? slash + 1 : (char *)path;
}

static char *step_basename(char *path)
{
    static char dot[] = ".";
    size_t length = __nm_model_step_length(path, SIZE_MAX);
    if (length == 0)
        return dot;
    size_t end = length;
    while (end > 0 && path[end - 1] == '/')
        end--;
    /* Of nothing but slashes the last one is left. */
    if (end == 0)
        return path + length - 1;
    if (end < length)
        path[end] = 0;
    size_t start = end;
    while (start > 0 && path[start - 1] != '/')
        start--;
    return path + start;
}

/* POSIX's, which looks at what is before slashes at the end, and writes there. */
char *NM_MODEL(__xpg_basename)(char *path)
{
    if (!nm_records() || path == NULL)
        return __nm_real___xpg_basename(path);
    if (__nm_explores())
        return step_basename(path);
    const char *bytes = nm_start(path);
    size_t length = __nm_real_strlen(bytes);
    if (length == 0 || __nm_real_memchr(bytes + length - 1, '/', 1) != NULL)
        return __nm_real___xpg_basename(path);
    return NM_MODEL(basename)(path);
}

/* Like pass_bytes, where a zero is a byte like any other. */
static void pass_memory(const char *bytes, size_t count, int c)
{
    size_t i = 0;
    while (i < count && bytes[i] != (char)c)
        i++;
}

/* `n` bytes were searched, up to `index`, or in vain: then all of them. */
static void searched_memory(const void *s, size_t n, bool found, size_t index)
{
    if (found) {
        /* Reading ends where it is found, wherever that is for other inputs. */
        __nm_reads(s, 1);
        /* One branch, which leaves room for other sizes. */
        nm_know(index < n);
    } else {
        __nm_reads(s, n);
        __nm_settle(n);
    }
    __nm_settle_pointer(s);
}

void *NM_MODEL(memchr)(const void *s, int c, size_t n)
{
    if (!nm_records())
        return __nm_real_memchr(s, c, n);
    if (__nm_explores())
        return __nm_model_step_find_in(s, n, (char)c);
    bool concrete = nm_value_is_concrete(s) && nm_value_is_concrete(n) && nm_value_is_concrete(c);
    const char *bytes = concrete ? s : (const char *)__nm_recorded((size_t)s);
    size_t limit = concrete ? n : __nm_recorded(n);
    const char *found = __nm_real_memchr(bytes, plain(c), limit);
    size_t index = found ? (size_t)(found - bytes) : limit;
    if (concrete && __nm_is_concrete(bytes, index + (found != NULL)))
        return (void *)found;
    searched_memory(s, n, found != NULL, index);
    if (found != NULL && seeks_newline(c) && moves_with_length(found))
        return (char *)s + moving_index(s, index);
    pass_memory(bytes, index, c);
    if (found == NULL)
        return NULL;
    meet_byte(found, c);
    return (char *)s + index;
}

void *NM_MODEL(memrchr)(const void *s, int c, size_t n)
{
    if (!nm_records())
        return __nm_real_memrchr(s, c, n);
    if (__nm_explores())
        return __nm_model_step_find_last(s, __nm_settle(n), (char)c);
    bool concrete = nm_value_is_concrete(s) && nm_value_is_concrete(n) && nm_value_is_concrete(c);
    __nm_reads(s, n);
    const char *bytes = nm_place(s);
    size_t size = concrete ? n : __nm_settle(n);
    const char *found = __nm_real_memrchr(bytes, plain(c), size);
    size_t index = found ? (size_t)(found - bytes) : 0;
    if (concrete && __nm_is_concrete(bytes + index, size - index))
        return (void *)found;
    if (found != NULL && seeks_newline(c) && moves_with_length(found))
        return (char *)s + moving_index(s, index);
    size_t behind = found ? index + 1 : 0;
    pass_memory(bytes + behind, size - behind, c);
    if (found == NULL)
        return NULL;
    meet_byte(found, c);
    return (char *)s + index;
}

void *NM_MODEL(rawmemchr)(const void *s, int c)
{
    if (!nm_records())
        return __nm_real_rawmemchr(s, c);
    if (__nm_explores())
        return __nm_model_step_find_in(s, SIZE_MAX, (char)c);
    if (nm_value_is_concrete(c) && (char)c == 0)
        return (char *)s + nm_length(s);
    const char *bytes = nm_place(s);
    const char *found = __nm_real_rawmemchr(bytes, plain(c));
    return NM_MODEL(memchr)(s, c, (size_t)(found - bytes) + 1);
}

void *NM_MODEL(__rawmemchr)(const void *s, int c)
{
    return NM_MODEL(rawmemchr)(s, c);
}

static int as_is(int c)
{
    return c;
}

static bool are_equal(char a, char b, nm_folding *fold)
{
    if (fold == as_is)
        return a == b;
    return nm_to_lower((unsigned char)a) == nm_to_lower((unsigned char)b);
}

/* Whether a needle of `size` bytes is at `bytes`, of which there are `left`. */
static bool is_at(const char *bytes, size_t left, const char *needle, size_t size, nm_folding *fold)
{
    size_t i = 0;
    while (i < size && i < left && are_equal(bytes[i], needle[i], fold))
        i++;
    return i == size;
}

/* Where the needle is first among `count` bytes, or -1. */
static ptrdiff_t search(const char *bytes, size_t count, const char *needle, size_t size,
                        nm_folding *fold)
{
    for (size_t i = 0; i <= count; i++)
        if (is_at(bytes + i, count - i, needle, size, fold))
            return (ptrdiff_t)i;
    return -1;
}

static char *search_string(const char *haystack, const char *needle, char *found, nm_folding *fold)
{
    const char *bytes = nm_start(haystack), *sought = nm_start(needle);
    size_t length = __nm_real_strlen(bytes), size = __nm_real_strlen(sought);
    size_t looked_at = found ? (size_t)(found - bytes) + size : length + 1;
    if (__nm_is_concrete(sought, size + 1) && __nm_is_concrete(bytes, looked_at))
        return found ? (char *)haystack + (found - bytes) : NULL;
    if (!__nm_is_concrete(sought, size + 1)) {
        size_t sought_length = nm_length(needle);
        /* A longer one may be elsewhere, or nowhere; where this one is not, none that is longer is. */
        if (found != NULL)
            nm_know(sought_length == size);
    }
    if (found == NULL)
        came_to_end(bytes, bytes + length);
    ptrdiff_t at = search(bytes, length, sought, size, fold);
    return at < 0 ? NULL : (char *)haystack + at;
}

char *NM_MODEL(strstr)(const char *haystack, const char *needle)
{
    if (!nm_records())
        return __nm_real_strstr(haystack, needle);
    if (__nm_explores())
        return __nm_model_step_find_string(haystack, needle, as_is);
    char *found = __nm_real_strstr(nm_start(haystack), nm_start(needle));
    return search_string(haystack, needle, found, as_is);
}

char *NM_MODEL(strcasestr)(const char *haystack, const char *needle)
{
    if (!nm_records() || !__nm_ctype_is_ascii())
        return __nm_real_strcasestr(haystack, needle);
    if (__nm_explores())
        return __nm_model_step_find_string(haystack, needle, nm_to_lower);
    char *found = __nm_real_strcasestr(nm_start(haystack), nm_start(needle));
    return search_string(haystack, needle, found, nm_to_lower);
}

void *NM_MODEL(memmem)(const void *haystack, size_t count, const void *needle, size_t size)
{
    if (!nm_records())
        return __nm_real_memmem(haystack, count, needle, size);
    __nm_reads(haystack, count);
    __nm_reads(needle, size);
    const char *bytes = nm_place(haystack), *sought = nm_place(needle);
    size_t length = __nm_settle(count), sought_size = __nm_settle(size);
    if (__nm_is_concrete(bytes, length) && __nm_is_concrete(sought, sought_size))
        return __nm_real_memmem(bytes, length, sought, sought_size);
    if (sought_size > length)
        return NULL;
    ptrdiff_t at = search(bytes, length, sought, sought_size, as_is);
    return at < 0 ? NULL : (char *)haystack + at;
}

/* One branch for a whole set: whether `c` is in it. */
static bool is_member(char c, const char *set, size_t size)
{
    int member = 0;
    for (size_t i = 0; i < size; i++)
        member |= set[i] == c;
    return member != 0;
}

/* A set of bytes; the path knows how many there are. */
struct set {
    const char *bytes;
    size_t size;
    bool concrete;
};

static struct set measure_set(const char *s)
{
    struct nm_text text = nm_measure_string(s);
    nm_end(&text);
    bool concrete = __nm_is_concrete(text.bytes, text.recorded + 1);
    /* An open end would be a set of symbolic size. */
    if (!concrete && !__nm_explores())
        nm_walk(text.bytes, text.recorded + 1);
    return (struct set){text.bytes, text.recorded, concrete};
}

/* The path knows from here on that the first `count` bytes are members, or that none is and
 * none is zero. */
static void pass_members(const char *bytes, size_t count, struct set set)
{
    size_t i = 0;
    while (i < count && is_member(bytes[i], set.bytes, set.size))
        i++;
}

static void pass_others(const char *bytes, size_t count, struct set set)
{
    size_t i = 0;
    while (i < count && !(is_member(bytes[i], set.bytes, set.size) | (bytes[i] == 0)))
        i++;
}

size_t NM_MODEL(strspn)(const char *s, const char *members)
{
    if (!nm_records())
        return __nm_real_strspn(s, members);
    struct set set = measure_set(members);
    if (__nm_explores())
        return __nm_model_step_span(s, set.bytes, set.size, true);
    const char *bytes = nm_start(s);
    size_t count = __nm_real_strspn(bytes, set.bytes);
    if (set.concrete && __nm_is_concrete(bytes, count + 1))
        return count;
    pass_members(bytes, count, set);
    if (!nm_is_end(bytes + count)) {
        nm_know(!is_member(bytes[count], set.bytes, set.size));
        return count;
    }
    came_to_end(bytes, bytes + count);
    return __nm_has_open_end(bytes + count) ? __nm_open_length(s, count) : count;
}

size_t NM_MODEL(strcspn)(const char *s, const char *members)
{
    if (!nm_records())
        return __nm_real_strcspn(s, members);
    struct set set = measure_set(members);
    if (__nm_explores())
        return __nm_model_step_span(s, set.bytes, set.size, false);
    const char *bytes = nm_start(s);
    size_t count = __nm_real_strcspn(bytes, set.bytes);
    if (set.concrete && __nm_is_concrete(bytes, count + 1))
        return count;
    if (set.concrete && moves_with_length(bytes + count)) {
        /* No other byte of a line is a newline; other members need a look. */
        if (set.size > 1)
            pass_others(bytes, count, set);
        return moving_index(s, count);
    }
    pass_others(bytes, count, set);
    if (!nm_is_end(bytes + count)) {
        nm_know(is_member(bytes[count], set.bytes, set.size));
        return count;
    }
    came_to_end(bytes, bytes + count);
    return __nm_has_open_end(bytes + count) ? __nm_open_length(s, count) : count;
}

char *NM_MODEL(strpbrk)(const char *s, const char *members)
{
    if (!nm_records())
        return __nm_real_strpbrk(s, members);
    char *found = (char *)s + NM_MODEL(strcspn)(s, members);
    /* The path knows already whether that is the end. */
    return nm_is_end(nm_place(found)) ? NULL : found;
}

/* Tokens: made of the functions above. A token that is cut off where its line ends has a
 * length that is symbolic, hence an open end. */

static void cut(const char *token, char *end)
{
    char *place = (char *)nm_place(end);
    size_t length = (size_t)(end - token);
    *place = 0;
    if (!nm_value_is_concrete(length))
        __nm_end_string(place, length);
}

/* Ends the token at `token` and returns what follows it; NULL: nothing does, and `*end` is the
 * string's end. */
static char *cut_token(char *token, const char *delimiters, char **end)
{
    *end = token + NM_MODEL(strcspn)(token, delimiters);
    if (nm_is_end(nm_place(*end)))
        return NULL;
    cut(token, *end);
    return *end + 1;
}

char *NM_MODEL(strtok_r)(char *s, const char *delimiters, char **save)
{
    if (!nm_records())
        return __nm_real_strtok_r(s, delimiters, save);
    if (s == NULL)
        s = *save;
    s += NM_MODEL(strspn)(s, delimiters);
    if (nm_is_end(nm_place(s))) {
        *save = s;
        return NULL;
    }
    char *end, *next = cut_token(s, delimiters, &end);
    *save = next != NULL ? next : end;
    return s;
}

char *NM_MODEL(__strtok_r)(char *s, const char *delimiters, char **save)
{
    return NM_MODEL(strtok_r)(s, delimiters, save);
}

char *NM_MODEL(strtok)(char *s, const char *delimiters)
{
    /* Recording may stop between two calls, never start: libc's own place is not needed. */
    static char *save;
    return NM_MODEL(strtok_r)(s, delimiters, &save);
}

char *NM_MODEL(strsep)(char **rest, const char *delimiters)
{
    if (!nm_records())
        return __nm_real_strsep(rest, delimiters);
    char *token = *rest, *end;
    if (token != NULL)
        *rest = cut_token(token, delimiters, &end);
    return token;
}
