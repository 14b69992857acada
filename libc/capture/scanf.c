/* scanf and its relatives: one object file for each PREFIX (none, __isoc99_, __isoc23_).
 *
 * libc does not say what it reads. Standard input is therefore scanned through a stream of functions
 * without a buffer, which takes byte by byte from standard input by a function that is captured; what
 * libc has taken and not used goes back there. Of other streams that lead to standard input is
 * captured what their buffer says.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "capture.h"

#define JOIN(prefix, name) prefix##name
#define NAMED(prefix, name) JOIN(prefix, name)
#define CAPTURES(name) NAMED(NAMED(__nm_captures_, PREFIX), name)
#define REAL(name) NAMED(NAMED(__real_, PREFIX), name)
#define PLACE(name) HIDDEN struct nm_place NAMED(NAMED(__nm_place_, PREFIX), name) = {0, NM_READING, 0}

#ifdef WEAK
__attribute__((weak))
#endif
extern int REAL(vfscanf)(FILE *stream, const char *format, va_list list);

static ssize_t give(void *cookie, char *to, size_t size)
{
    (void)cookie;
    int byte = size == 0 ? EOF : fgetc(stdin);
    if (byte == EOF)
        return ferror(stdin) ? -1 : 0;
    *to = (char)byte;
    return 1;
}

/* Standard input, without a buffer of its own. NULL: there is no memory for it. */
static FILE *view(void)
{
    static FILE *known;
    if (known == NULL) {
        cookie_io_functions_t functions = {.read = give};
        int error = errno;
        known = fopencookie(NULL, "r", functions);
        if (known != NULL)
            setvbuf(known, NULL, _IONBF, 0);
        errno = error;
    }
    return known;
}

static int scan_stdin(FILE *from, const char *format, va_list list)
{
    clearerr(from);
    int matched = REAL(vfscanf)(from, format, list);
    int error = errno;
    while (__nm_capture_available(from) > 0)
        ungetc(fgetc(from), stdin);
    errno = error;
    return matched;
}

HIDDEN int CAPTURES(vfscanf)(FILE *stream, const char *format, va_list list)
{
    struct nm_ahead known;
    int matched;
    if (!__nm_capture_is_watched())
        return REAL(vfscanf)(stream, format, list);
    flockfile(stream);
    FILE *from = stream == stdin ? view() : NULL;
    if (from != NULL) {
        matched = scan_stdin(from, format, list);
    } else {
        int is_seen = __nm_capture_before(stream, &known);
        matched = REAL(vfscanf)(stream, format, list);
        if (is_seen)
            __nm_capture_after(stream, &known);
    }
    funlockfile(stream);
    return matched;
}

HIDDEN int CAPTURES(vscanf)(const char *format, va_list list)
{
    return CAPTURES(vfscanf)(stdin, format, list);
}

HIDDEN int CAPTURES(fscanf)(FILE *stream, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int matched = CAPTURES(vfscanf)(stream, format, list);
    va_end(list);
    return matched;
}

HIDDEN int CAPTURES(scanf)(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int matched = CAPTURES(vfscanf)(stdin, format, list);
    va_end(list);
    return matched;
}

PLACE(vfscanf);
PLACE(vscanf);
PLACE(fscanf);
PLACE(scanf);
