/* Models of strlcpy and strlcat, which newer C libraries and libbsd have.
 *
 * In a file of its own: it needs the real functions, and must be linked only into programs
 * that would not be linked without them either.
 */
#include "text.h"

#pragma GCC visibility push(default)
/* A program may have one of them as its own and not the other. */
extern __attribute__((weak)) size_t strlcpy(char *to, const char *from, size_t room);
extern __attribute__((weak)) size_t strlcat(char *to, const char *from, size_t room);
#pragma GCC visibility pop

#pragma GCC visibility push(hidden)

/* Through pointers, or these calls would be turned into calls of the models. */
static size_t (*const volatile real_strlcpy)(char *, const char *, size_t) = strlcpy;
static size_t (*const volatile real_strlcat)(char *, const char *, size_t) = strlcat;

/* Puts as much of `source` as fits behind `used` bytes of `to`. */
static void put(char *to, struct nm_text used, struct nm_text source, size_t room)
{
    size_t left = room - used.length, whole = source.length + 1;
    __nm_writes(to, used.length + nm_smaller(whole, left));
    nm_end(&source);
    size_t plain_left = (nm_value_is_concrete(left) ? left : __nm_settle(left)) - 1;
    size_t count = nm_smaller(source.recorded, plain_left);
    char *place = (char *)nm_place(to) + used.recorded;
    __nm_real_memmove(place, source.bytes, count);
    __nm_move_labels(place, source.bytes, count);
    place[count] = 0;
    size_t length = used.length + nm_smaller(source.length, left - 1);
    if (!nm_value_is_concrete(length))
        __nm_end_string(place + count, length);
}

size_t NM_MODEL(strlcpy)(char *to, const char *from, size_t room)
{
    if (!nm_records())
        return real_strlcpy(to, from, room);
    struct nm_text source = nm_measure_string(from);
    if (room > 0)
        put(to, (struct nm_text){to, 0, 0, false}, source, room);
    nm_end(&source);
    return source.length;
}

size_t NM_MODEL(strlcat)(char *to, const char *from, size_t room)
{
    if (!nm_records())
        return real_strlcat(to, from, room);
    struct nm_text used = nm_measure(to, room);
    nm_end(&used);
    struct nm_text source = nm_measure_string(from);
    if (used.length < room)
        put(to, used, source, room);
    nm_end(&source);
    return used.length + source.length;
}
