/* Models of <stdio.h> and <unistd.h>: output.
 *
 * What is printed leaves the program, so nothing is lost and the path learns nothing: only that
 * what is read is inside its object is checked, for all inputs. Unless the program can read it
 * again: then its labels are kept (crates/rt/src/kept.rs), and where that is printed to a file of
 * the program's own, it is printed into memory first to know them.
 */
#include "format.h"

#include <stdint.h>
#include <unistd.h>

#pragma GCC visibility push(hidden)

/* Every string of a format must have an end inside its object. */
static void check_strings(const char *text, va_list list)
{
    struct nm_format format;
    if (!__nm_read_format(text, &format) || format.values == 0)
        return;
    va_list copy;
    va_copy(copy, list);
    __nm_read_values(&format, copy);
    va_end(copy);
    for (int i = 0; i < format.conversions; i++) {
        const struct nm_conversion *conversion = &format.conversion[i];
        bool is_bounded = conversion->precision >= 0 || conversion->precision_argument >= 0;
        if (conversion->letter != 's' || conversion->size == 'l' || is_bounded)
            continue;
        const char *s = format.value[conversion->argument].pointer;
        if (__nm_recorded_pointer(s) != NULL)
            __nm_terminated(s);
    }
}

/* What is about to be printed, with its labels; the length is negative if that is not known. */
static int render(char **rendered, const char *text, va_list list)
{
    va_list copy;
    va_copy(copy, list);
    int length = NM_MODEL(vasprintf)(rendered, text, copy);
    va_end(copy);
    return length;
}

static bool is_known(int length)
{
    return (int)__nm_recorded((size_t)length) >= 0;
}

/* The length of what is printed with its label, where it is asked for or the labels are kept. */
static int leave_stream(bool counts, FILE *stream, const char *text, va_list list)
{
    char *rendered;
    bool keeps = __nm_keeps(__nm_descriptor(stream));
    int length = keeps || counts ? render(&rendered, text, list) : -1;
    if (is_known(length)) {
        if (keeps)
            __nm_leaves(stream, rendered, (size_t)length);
        NM_MODEL(free)(rendered);
    }
    return length;
}

static int leave_descriptor(bool counts, int fd, const char *text, va_list list)
{
    char *rendered;
    fd = (int)__nm_recorded((size_t)fd);
    bool keeps = __nm_keeps(fd);
    int length = keeps || counts ? render(&rendered, text, list) : -1;
    if (is_known(length)) {
        if (keeps)
            __nm_leaves_to(fd, rendered, (size_t)length);
        NM_MODEL(free)(rendered);
    }
    return length;
}

/* The answer of a printing function, with the label of the length that was expected. */
static int as_expected(int printed, int length)
{
    return printed >= 0 && printed == (int)__nm_recorded((size_t)length) ? length : printed;
}

#define NM_UNCOUNTED(name) __nm_model_uncounted_##name

/* A printing function that takes a list, and its relative that takes arguments one by one. */
#define PRINTS_AS(named, counts, name, list_name, leave, to, parameters, variadic_parameters, ...) \
    int named(list_name) parameters                                                            \
    {                                                                                          \
        if (!nm_records())                                                                     \
            return __nm_real_##list_name(__VA_ARGS__, list);                                   \
        check_strings(text, list);                                                             \
        int length = leave(counts, to, text, list);                                            \
        return as_expected(__nm_real_##list_name(__VA_ARGS__, list), length);                  \
    }                                                                                          \
    int named(name) variadic_parameters                                                        \
    {                                                                                          \
        va_list list;                                                                          \
        va_start(list, text);                                                                  \
        int result = named(list_name)(__VA_ARGS__, list);                                      \
        va_end(list);                                                                          \
        return result;                                                                         \
    }

/* Each twice: what it returns, how many bytes were printed, takes work to know and is hardly ever used. */
#define PRINTS(...)                                                                            \
    PRINTS_AS(NM_MODEL, true, __VA_ARGS__)                                                     \
    PRINTS_AS(NM_UNCOUNTED, false, __VA_ARGS__)

PRINTS(printf, vprintf, leave_stream, stdout,
       (const char *text, va_list list), (const char *text, ...), text)
PRINTS(fprintf, vfprintf, leave_stream, stream,
       (FILE *stream, const char *text, va_list list),
       (FILE *stream, const char *text, ...), stream, text)
PRINTS(dprintf, vdprintf, leave_descriptor, fd,
       (int fd, const char *text, va_list list), (int fd, const char *text, ...),
       fd, text)
PRINTS(__printf_chk, __vprintf_chk, leave_stream, stdout,
       (int flag, const char *text, va_list list),
       (int flag, const char *text, ...), flag, text)
PRINTS(__fprintf_chk, __vfprintf_chk, leave_stream, stream,
       (FILE *stream, int flag, const char *text, va_list list),
       (FILE *stream, int flag, const char *text, ...), stream, flag, text)
PRINTS(__dprintf_chk, __vdprintf_chk, leave_descriptor, fd,
       (int fd, int flag, const char *text, va_list list),
       (int fd, int flag, const char *text, ...), fd, flag, text)

/* Arguments go to the real functions as they are in this run. */

#define WITHOUT_LABEL(pointer) ((__typeof__(pointer))__nm_recorded_pointer(pointer))

static void leave_string(const char *s, FILE *stream)
{
    s = WITHOUT_LABEL(s);
    size_t length = __nm_real_strlen(s);
    if (__nm_has_open_end(s + length) && __nm_keeps(__nm_descriptor(stream)))
        length = __nm_open_length(s, length);
    __nm_leaves(stream, s, length);
}

int NM_MODEL(puts)(const char *s)
{
    if (!nm_records())
        return __nm_real_puts(s);
    __nm_terminated(s);
    leave_string(s, stdout);
    return __nm_real_puts(WITHOUT_LABEL(s));
}

int NM_MODEL(fputs)(const char *s, FILE *stream)
{
    if (!nm_records())
        return __nm_real_fputs(s, stream);
    __nm_terminated(s);
    leave_string(s, stream);
    return __nm_real_fputs(WITHOUT_LABEL(s), stream);
}

int NM_MODEL(fputs_unlocked)(const char *s, FILE *stream)
{
    if (!nm_records())
        return __nm_real_fputs_unlocked(s, stream);
    __nm_terminated(s);
    leave_string(s, stream);
    return __nm_real_fputs_unlocked(WITHOUT_LABEL(s), stream);
}

/* All of it was written, so the count has the label of what was asked for. */
static size_t as_asked(size_t written, size_t asked)
{
    return written == __nm_recorded(asked) ? asked : written;
}

size_t NM_MODEL(fwrite)(const void *start, size_t size, size_t count, FILE *stream)
{
    if (!nm_records())
        return __nm_real_fwrite(start, size, count, stream);
    __nm_reads(start, size * count);
    __nm_leaves(stream, WITHOUT_LABEL(start), size * count);
    return as_asked(__nm_real_fwrite(WITHOUT_LABEL(start), __nm_recorded(size), __nm_recorded(count),
                                     stream), count);
}

size_t NM_MODEL(fwrite_unlocked)(const void *start, size_t size, size_t count, FILE *stream)
{
    if (!nm_records())
        return __nm_real_fwrite_unlocked(start, size, count, stream);
    __nm_reads(start, size * count);
    __nm_leaves(stream, WITHOUT_LABEL(start), size * count);
    return as_asked(__nm_real_fwrite_unlocked(WITHOUT_LABEL(start), __nm_recorded(size),
                                              __nm_recorded(count), stream), count);
}

ssize_t NM_MODEL(write)(int fd, const void *start, size_t size)
{
    if (!nm_records())
        return __nm_real_write(fd, start, size);
    __nm_reads(start, size);
    __nm_leaves_to((int)__nm_recorded((size_t)fd), WITHOUT_LABEL(start), size);
    return (ssize_t)as_asked((size_t)__nm_real_write((int)__nm_recorded((size_t)fd), WITHOUT_LABEL(start),
                                                     __nm_recorded(size)), size);
}
