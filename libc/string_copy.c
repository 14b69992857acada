/* Models of <string.h>: copies of strings.
 *
 * Each checks that the destination is large enough for every length that the source may have,
 * then copies as many bytes as in this run, and their labels. An open end is copied with its
 * label; where the new string's length is another than the source's, it gets a new one.
 */
#include "text.h"

#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(hidden)

/* `count` bytes and their labels; the destination's own labels are gone. */
static void copy(char *to, const char *from, size_t count)
{
    __nm_real_memmove(to, from, count);
    __nm_move_labels(to, from, count);
}

static void clear(char *to, size_t count)
{
    __nm_real_memset(to, 0, count);
    __nm_clear((uint64_t)(uintptr_t)to, count);
}

/* The zero behind a string of `length` bytes. */
static void end_string(char *end, size_t length)
{
    clear(end, 1);
    if (!nm_value_is_concrete(length))
        __nm_end_string(end, length);
}

/* The whole string with its end; the length of what was written for all inputs. */
static size_t copy_string(char *to, const char *from)
{
    struct nm_text source = nm_measure_string(from);
    __nm_writes(to, source.length + 1);
    nm_end(&source);
    copy((char *)nm_place(to), source.bytes, source.recorded + 1);
    return source.length;
}

char *NM_MODEL(strcpy)(char *to, const char *from)
{
    if (!nm_records())
        return __nm_real_strcpy(to, from);
    copy_string(to, from);
    return to;
}

char *NM_MODEL(stpcpy)(char *to, const char *from)
{
    if (!nm_records())
        return __nm_real_stpcpy(to, from);
    return to + copy_string(to, from);
}

/* At most `n` bytes, and zeros up to `n`. A string that fills all of them has no end: in an
 * object that ends there too, its last byte says so. Else the program is expected to write
 * the missing zero itself. */
static size_t copy_padded(char *to, const char *from, size_t n)
{
    __nm_writes(to, n);
    struct nm_text source = nm_measure(from, n);
    nm_end(&source);
    size_t count = __nm_settle(n);
    char *place = (char *)nm_place(to), *end = place + source.recorded;
    copy(place, source.bytes, source.recorded);
    clear(end, count - source.recorded);
    if (source.recorded == count || nm_value_is_concrete(source.length))
        return source.length;
    if (__nm_room(place) > count) {
        __nm_end_string(end, source.length);
    } else if (source.recorded + 1 < count) {
        __nm_end_string(end, nm_smaller(source.length, count - 1));
        place[count - 1] = (char)(source.length >= count);
    } else {
        __nm_move_labels(end, source.bytes + source.recorded, 1);
    }
    return source.length;
}

char *NM_MODEL(strncpy)(char *to, const char *from, size_t n)
{
    if (!nm_records())
        return __nm_real_strncpy(to, from, n);
    copy_padded(to, from, n);
    return to;
}

char *NM_MODEL(stpncpy)(char *to, const char *from, size_t n)
{
    if (!nm_records())
        return __nm_real_stpncpy(to, from, n);
    return to + copy_padded(to, from, n);
}

static void append_string(char *to, struct nm_text used, struct nm_text source)
{
    __nm_writes(to, used.length + source.length + 1);
    nm_end(&source);
    char *place = (char *)nm_place(to) + used.recorded;
    copy(place, source.bytes, source.recorded);
    end_string(place + source.recorded, used.length + source.length);
}

/* What is in the destination of a concatenation already. */
static struct nm_text measure_used(const char *to)
{
    struct nm_text used = nm_measure_string(to);
    nm_end(&used);
    return used;
}

char *NM_MODEL(strcat)(char *to, const char *from)
{
    if (!nm_records())
        return __nm_real_strcat(to, from);
    append_string(to, measure_used(to), nm_measure_string(from));
    return to;
}

char *NM_MODEL(strncat)(char *to, const char *from, size_t n)
{
    if (!nm_records())
        return __nm_real_strncat(to, from, n);
    append_string(to, measure_used(to), nm_measure(from, n));
    return to;
}

void *NM_MODEL(memccpy)(void *to, const void *from, int c, size_t n)
{
    if (!nm_records())
        return __nm_real_memccpy(to, from, c, n);
    const char *found = NM_MODEL(memchr)(from, c, n);
    size_t count = found ? (size_t)(found - (const char *)from) + 1 : n;
    __nm_writes(to, count);
    copy((char *)nm_place(to), nm_place(from), __nm_settle(count));
    return found ? (char *)to + count : NULL;
}

void NM_MODEL(swab)(const void *from, void *to, ssize_t n)
{
    if (!nm_records()) {
        __nm_real_swab(from, to, n);
        return;
    }
    if (n < 2)
        return;
    size_t count = (size_t)n & ~(size_t)1;
    __nm_reads(from, count);
    __nm_writes(to, count);
    count = __nm_settle(count);
    const char *source = nm_place(from);
    char *place = (char *)nm_place(to);
    for (size_t i = 0; i < count; i += 2) {
        char first = source[i], second = source[i + 1];
        place[i] = second;
        place[i + 1] = first;
    }
}

/* Copies on the heap: `malloc` is the runtime's model, which knows that the new object is as
 * large as the string is long. */
static char *duplicate(struct nm_text source)
{
    char *new = malloc(source.length + 1);
    if (new == NULL)
        return NULL;
    char *place = (char *)nm_place(new);
    copy(place, source.bytes, source.recorded);
    end_string(place + source.recorded, source.length);
    return new;
}

char *NM_MODEL(strdup)(const char *s)
{
    if (!nm_records())
        return __nm_real_strdup(s);
    struct nm_text source = nm_measure_string(s);
    nm_end(&source);
    return duplicate(source);
}

char *NM_MODEL(strndup)(const char *s, size_t n)
{
    if (!nm_records())
        return __nm_real_strndup(s, n);
    struct nm_text source = nm_measure(s, n);
    nm_end(&source);
    return duplicate(source);
}

char *NM_MODEL(__strdup)(const char *s)
{
    return NM_MODEL(strdup)(s);
}

char *NM_MODEL(__strndup)(const char *s, size_t n)
{
    return NM_MODEL(strndup)(s, n);
}

/* The C locale's transformation changes nothing. */
size_t NM_MODEL(strxfrm)(char *to, const char *from, size_t n)
{
    if (!nm_records() || !__nm_collates_bytes())
        return __nm_real_strxfrm(to, from, n);
    size_t room = __nm_settle(n);
    struct nm_text source = nm_measure_string(from);
    __nm_writes(to, nm_smaller(source.length + 1, room));
    nm_end(&source);
    /* What does not fit is of no use to anybody, but written like this. */
    if (room > 0) {
        char *place = (char *)nm_place(to);
        copy(place, source.bytes, nm_smaller(source.recorded + 1, room));
    }
    return source.length;
}

/* What -D_FORTIFY_SOURCE makes of the copies: the same checks come first, so that a failure is
 * told as what it is. */

void __chk_fail(void) __attribute__((noreturn, visibility("default")));

static void fortify(const char *to, size_t needed, size_t room)
{
    __nm_writes(to, needed);
    if (needed > room)
        __chk_fail();
}

char *NM_MODEL(__strcpy_chk)(char *to, const char *from, size_t room)
{
    if (!nm_records())
        return __nm_real___strcpy_chk(to, from, room);
    fortify(to, nm_measure_string(from).length + 1, room);
    return NM_MODEL(strcpy)(to, from);
}

char *NM_MODEL(__stpcpy_chk)(char *to, const char *from, size_t room)
{
    if (!nm_records())
        return __nm_real___stpcpy_chk(to, from, room);
    fortify(to, nm_measure_string(from).length + 1, room);
    return NM_MODEL(stpcpy)(to, from);
}

char *NM_MODEL(__strncpy_chk)(char *to, const char *from, size_t n, size_t room)
{
    if (!nm_records())
        return __nm_real___strncpy_chk(to, from, n, room);
    fortify(to, n, room);
    return NM_MODEL(strncpy)(to, from, n);
}

char *NM_MODEL(__stpncpy_chk)(char *to, const char *from, size_t n, size_t room)
{
    if (!nm_records())
        return __nm_real___stpncpy_chk(to, from, n, room);
    fortify(to, n, room);
    return NM_MODEL(stpncpy)(to, from, n);
}

char *NM_MODEL(__strcat_chk)(char *to, const char *from, size_t room)
{
    if (!nm_records())
        return __nm_real___strcat_chk(to, from, room);
    fortify(to, measure_used(to).length + nm_measure_string(from).length + 1, room);
    return NM_MODEL(strcat)(to, from);
}

char *NM_MODEL(__strncat_chk)(char *to, const char *from, size_t n, size_t room)
{
    if (!nm_records())
        return __nm_real___strncat_chk(to, from, n, room);
    fortify(to, measure_used(to).length + nm_measure(from, n).length + 1, room);
    return NM_MODEL(strncat)(to, from, n);
}
