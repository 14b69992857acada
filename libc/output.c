/* Models of <stdio.h> and <unistd.h>: output.
 *
 * What is printed leaves the program, so nothing is lost and the path learns nothing: only that
 * what is read is inside its object is checked, for all inputs. Functions that are given no
 * pointers (putc and the like) have no model: see `abi::library`.
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

/* A printing function that takes a list, and its relative that takes arguments one by one. */
#define PRINTS(name, list_name, parameters, variadic_parameters, ...)                          \
    int NM_MODEL(list_name) parameters                                                         \
    {                                                                                          \
        if (nm_records())                                                                      \
            check_strings(text, list);                                                         \
        return __nm_real_##list_name(__VA_ARGS__, list);                                       \
    }                                                                                          \
    NM_VARIADIC(text, name, list_name, variadic_parameters, __VA_ARGS__)

PRINTS(printf, vprintf, (const char *text, va_list list), (const char *text, ...), text)
PRINTS(fprintf, vfprintf, (FILE *stream, const char *text, va_list list),
       (FILE *stream, const char *text, ...), stream, text)
PRINTS(dprintf, vdprintf, (int fd, const char *text, va_list list), (int fd, const char *text, ...),
       fd, text)
PRINTS(__printf_chk, __vprintf_chk, (int flag, const char *text, va_list list),
       (int flag, const char *text, ...), flag, text)
PRINTS(__fprintf_chk, __vfprintf_chk, (FILE *stream, int flag, const char *text, va_list list),
       (FILE *stream, int flag, const char *text, ...), stream, flag, text)
PRINTS(__dprintf_chk, __vdprintf_chk, (int fd, int flag, const char *text, va_list list),
       (int fd, int flag, const char *text, ...), fd, flag, text)

/* Arguments go to the real functions as they are in this run. */

#define WITHOUT_LABEL(pointer) ((__typeof__(pointer))__nm_recorded_pointer(pointer))

int NM_MODEL(puts)(const char *s)
{
    if (!nm_records())
        return __nm_real_puts(s);
    __nm_terminated(s);
    return __nm_real_puts(WITHOUT_LABEL(s));
}

int NM_MODEL(fputs)(const char *s, FILE *stream)
{
    if (!nm_records())
        return __nm_real_fputs(s, stream);
    __nm_terminated(s);
    return __nm_real_fputs(WITHOUT_LABEL(s), stream);
}

int NM_MODEL(fputs_unlocked)(const char *s, FILE *stream)
{
    if (!nm_records())
        return __nm_real_fputs_unlocked(s, stream);
    __nm_terminated(s);
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
    return as_asked(__nm_real_fwrite(WITHOUT_LABEL(start), __nm_recorded(size), __nm_recorded(count),
                                     stream), count);
}

size_t NM_MODEL(fwrite_unlocked)(const void *start, size_t size, size_t count, FILE *stream)
{
    if (!nm_records())
        return __nm_real_fwrite_unlocked(start, size, count, stream);
    __nm_reads(start, size * count);
    return as_asked(__nm_real_fwrite_unlocked(WITHOUT_LABEL(start), __nm_recorded(size),
                                              __nm_recorded(count), stream), count);
}

ssize_t NM_MODEL(write)(int fd, const void *start, size_t size)
{
    if (!nm_records())
        return __nm_real_write(fd, start, size);
    __nm_reads(start, size);
    return (ssize_t)as_asked((size_t)__nm_real_write((int)__nm_recorded((size_t)fd), WITHOUT_LABEL(start),
                                                     __nm_recorded(size)), size);
}
