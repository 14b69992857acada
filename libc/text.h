/* Strings as the models of <string.h> see them: how long, and for which inputs.
 *
 * The byte that ends a string is one of three. A concrete zero: the string can get no longer.
 * An open end: its length is a term, and no byte need be looked at. A zero that is input like
 * any other byte: then the string may go on, to the next zero in its object.
 *
 * Searches never branch on an open end. What was not found among the recorded bytes is taken
 * to be missing in a longer string too; every prediction is run, so the worst is a lost one.
 */
#ifndef NM_TEXT_H
#define NM_TEXT_H

#include "steps.h"

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* A string that is about to be read. */
struct nm_text {
    const char *bytes; /* where, without a label */
    size_t recorded;   /* its length in this run */
    size_t length;     /* its length for all inputs */
    bool unsure;       /* the zero that ends it is input */
};

void *__nm_model_memchr(const void *s, int c, size_t n);

/* How far ahead the next zero is looked for. */
enum { NM_AHEAD = 256 };

/* A term, where a conditional expression would be a branch. */
static inline size_t nm_smaller(size_t a, size_t b)
{
    return __builtin_elementwise_min(a, b);
}

/* Where a pointer points to: from here on it is concrete, though what is computed from the
 * argument itself may still move with a length. */
static inline const char *nm_place(const void *pointer)
{
    return nm_value_is_concrete(pointer) ? pointer : __nm_settle_pointer(pointer);
}

/* Likewise a string's, of which at least one byte is read. */
static inline const char *nm_start(const char *s)
{
    if (nm_value_is_concrete(s))
        return s;
    __nm_reads(s, 1);
    return __nm_settle_pointer(s);
}

/* Likewise, but with its label where it moves with a length: what is read there is chosen by it. */
static inline const char *nm_moving(const char *pointer, const char *place)
{
    return nm_value_is_concrete(pointer) || !__nm_moves(pointer) ? place : pointer;
}

/* Bytes that one step makes equal, at most. */
enum { NM_STEP = 256 };

/* How many bytes of both lie inside their objects, up to a limit; 0: the bounds of one are unknown. */
static inline size_t nm_common_room(const char *a, const char *b, size_t limit)
{
    size_t left = __nm_room(a), right = __nm_room(b);
    size_t room = left < right ? left : right;
    size_t most = limit < NM_STEP ? limit : NM_STEP;
    return room < most ? room : most;
}

/* The bytes at `at` are compared next, and differ in this run. That all up to `end` are equal is one step. */
static inline void nm_hint_equal(const char *a, const char *b, size_t at, size_t end, bool folded)
{
    if (end <= at + 1)
        return;
    int difference = 0;
    for (size_t i = at; i < end; i++) {
        unsigned char x = a[i], y = b[i];
        difference |= folded ? nm_to_lower(x) ^ nm_to_lower(y) : x ^ y;
    }
    __nm_hint(difference == 0);
}

/* How long a string is, as far as it is compared; 0 where its end is not in its object. */
static inline size_t nm_length_within(const char *s, size_t limit)
{
    size_t room = __nm_room(s);
    size_t most = room < NM_STEP ? room : NM_STEP, length = __nm_real_strnlen(s, most);
    return length < limit ? (length < most ? length : 0) : limit;
}

/* Likewise for strings: up to the end of the shorter one. */
static inline void nm_hint_same(const char *a, const char *b, size_t at, size_t limit, bool folded)
{
    size_t room = nm_common_room(a, b, limit);
    size_t left = __nm_real_strnlen(a, room), right = __nm_real_strnlen(b, room);
    __nm_words(a, nm_length_within(a, limit), b, nm_length_within(b, limit));
    nm_hint_equal(a, b, at, left < right ? left : right, folded);
}

/* The byte at a place; where all paths are explored, after a check. */
static inline char nm_byte(const char *place)
{
    return __nm_explores() ? nm_step_byte(place) : *place;
}

/* Whether a byte is zero, without a branch of the path. */
static inline bool nm_is_end(const char *bytes)
{
    return __nm_real_strnlen(bytes, 1) == 0;
}

/* The path knows from here on that this is true, as it is in this run: nothing but a branch. */
static inline void nm_know(bool fact)
{
    static volatile char somewhere __attribute__((unused));
    if (!fact)
        somewhere = 0;
}

/* The path knows from here on that the first `count` bytes are no zeros. */
static inline void nm_walk(const char *bytes, size_t count)
{
    size_t i = 0;
    while (i < count && bytes[i] != 0)
        i++;
}

/* How many bytes follow, for other inputs, before the next zero in the object: the byte at
 * `end`, zero in this run, is input. Without a branch. */
static inline size_t nm_more(const char *end)
{
    size_t room = __nm_room(end);
    size_t ahead = 0;
    while (ahead < room && ahead < NM_AHEAD
           && !(nm_is_end(end + ahead) && __nm_is_concrete(end + ahead, 1)))
        ahead++;
    size_t more = 0;
    while (ahead-- > 0)
        more = (more + 1) & -(size_t)(end[ahead] != 0);
    return more;
}

/* Measures the string at `s`, of which at most `limit` bytes count. If it is `unsure`, the
 * checks that depend on its length come next, and then `nm_end`. */
static inline struct nm_text nm_measure(const char *s, size_t limit)
{
    if (__nm_explores()) {
        size_t length = __nm_model_step_length(s, limit);
        return (struct nm_text){nm_place(s), length, length, false};
    }
    const char *bytes = limit == 0 ? nm_place(s) : nm_start(s);
    size_t most = nm_value_is_concrete(limit) ? limit : __nm_settle(limit);
    size_t recorded = __nm_real_strnlen(bytes, most);
    if (recorded == most) {
        nm_walk(bytes, recorded);
        return (struct nm_text){bytes, recorded, limit, false};
    }
    struct nm_text text = {bytes, recorded, recorded, false};
    if (!__nm_is_concrete(bytes, recorded + 1)) {
        if (__nm_has_open_end(bytes + recorded)) {
            text.length = __nm_open_length(s, recorded);
        } else {
            nm_walk(bytes, recorded);
            text.unsure = !__nm_is_concrete(bytes + recorded, 1);
            if (text.unsure)
                text.length = recorded + nm_more(bytes + recorded);
        }
    }
    text.length = nm_smaller(text.length, limit);
    return text;
}

/* A string that has to end inside its object. */
static inline struct nm_text nm_measure_string(const char *s)
{
    if (__nm_explores())
        return nm_measure(s, SIZE_MAX);
    const char *bytes = nm_start(s);
    if (!__nm_is_concrete(bytes + __nm_real_strlen(bytes), 1))
        __nm_terminated(bytes);
    return nm_measure(s, SIZE_MAX);
}

/* The checks are made: the path goes where the string ends as it ended in this run. */
static inline void nm_end(struct nm_text *text)
{
    if (!text->unsure)
        return;
    nm_walk(text->bytes + text->recorded, 1);
    text->length = text->recorded;
    text->unsure = false;
}

/* The length of a string, once and for all. */
static inline size_t nm_length(const char *s)
{
    struct nm_text text = nm_measure_string(s);
    nm_end(&text);
    return text.length;
}

#pragma GCC visibility pop

#endif
