/* What libc writes, told to MemorySanitizer: for the memory twin, which looks for reads of memory that
 * was never written (crates/twin/src/memory.rs links it with `--wrap` for each of these functions).
 *
 * MemorySanitizer sees what instrumented code writes and knows most functions of libc. Two things it
 * does not know are said here. Memory that libc allocates for itself (a stream's buffer, the registers
 * of a match) is filled by code without instrumentation: only what the program itself allocates counts
 * as never written. And some functions fill memory of the program.
 *
 * Compiled without debug information, so that reports name the program's own line, and with frame
 * pointers, by which MemorySanitizer finds who allocated a block.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <fcntl.h>
#include <regex.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

extern void __msan_unpoison(const volatile void *start, size_t size) __attribute__((weak));
extern void __msan_scoped_disable_interceptor_checks(void) __attribute__((weak));
extern void __msan_scoped_enable_interceptor_checks(void) __attribute__((weak));

#define REAL(result, name, ...)                                                                \
    __attribute__((weak)) result __real_##name(__VA_ARGS__);                                   \
    result __wrap_##name(__VA_ARGS__)

/* Whether it is the program that allocates. */
static __thread bool is_own;

static void written(const volatile void *start, size_t size)
{
    if (start != NULL && size != 0 && __msan_unpoison != NULL)
        __msan_unpoison(start, size);
}

void __sanitizer_malloc_hook(const volatile void *block, size_t size)
{
    if (!is_own)
        written(block, size);
}

#define ALLOCATES(result, name, call, ...)                                                     \
    REAL(result, name, __VA_ARGS__)                                                            \
    {                                                                                          \
        is_own = true;                                                                         \
        result block = __real_##name call;                                                     \
        is_own = false;                                                                        \
        return block;                                                                          \
    }

ALLOCATES(void *, malloc, (size), size_t size)
ALLOCATES(void *, realloc, (old, size), void *old, size_t size)
ALLOCATES(void *, reallocarray, (old, n, size), void *old, size_t n, size_t size)
ALLOCATES(void *, aligned_alloc, (alignment, size), size_t alignment, size_t size)
ALLOCATES(void *, memalign, (alignment, size), size_t alignment, size_t size)
ALLOCATES(void *, valloc, (size), size_t size)
ALLOCATES(void *, pvalloc, (size), size_t size)
ALLOCATES(int, posix_memalign, (to, alignment, size), void **to, size_t alignment, size_t size)

/* What is written to a file decides nothing: a record with padding in it may be. */
#define WRITES(result, name, call, ...)                                                        \
    REAL(result, name, __VA_ARGS__)                                                            \
    {                                                                                          \
        if (__msan_scoped_disable_interceptor_checks != NULL)                                  \
            __msan_scoped_disable_interceptor_checks();                                        \
        result done = __real_##name call;                                                      \
        if (__msan_scoped_enable_interceptor_checks != NULL)                                   \
            __msan_scoped_enable_interceptor_checks();                                         \
        return done;                                                                           \
    }

struct iovec;
struct msghdr;
WRITES(ssize_t, write, (fd, from, size), int fd, const void *from, size_t size)
WRITES(ssize_t, pwrite, (fd, from, size, at), int fd, const void *from, size_t size, off_t at)
WRITES(ssize_t, pwrite64, (fd, from, size, at), int fd, const void *from, size_t size, off_t at)
WRITES(ssize_t, writev, (fd, parts, n), int fd, const struct iovec *parts, int n)
WRITES(size_t, fwrite, (from, size, n, to), const void *from, size_t size, size_t n, FILE *to)
WRITES(ssize_t, send, (fd, from, size, how), int fd, const void *from, size_t size, int how)
WRITES(ssize_t, sendto, (fd, from, size, how, to, room), int fd, const void *from, size_t size, int how,
       const void *to, unsigned room)
WRITES(ssize_t, sendmsg, (fd, message, how), int fd, const struct msghdr *message, int how)

REAL(char *, strtok_r, char *text, const char *delimiters, char **rest)
{
    char *token = __real_strtok_r(text, delimiters, rest);
    written(rest, sizeof *rest);
    return token;
}

REAL(char *, realpath, const char *path, char *to)
{
    char *real = __real_realpath(path, to);
    if (real != NULL)
        written(real, strlen(real) + 1);
    return real;
}

REAL(int, fgetpos, FILE *stream, fpos_t *to)
{
    int result = __real_fgetpos(stream, to);
    written(to, sizeof *to);
    return result;
}

REAL(int, fgetpos64, FILE *stream, fpos64_t *to)
{
    int result = __real_fgetpos64(stream, to);
    written(to, sizeof *to);
    return result;
}

REAL(int, statx, int fd, const char *path, int flags, unsigned mask, struct statx *to)
{
    int result = __real_statx(fd, path, flags, mask, to);
    if (result == 0)
        written(to, sizeof *to);
    return result;
}

static long control(int fd, int what, long argument, int result)
{
    (void)fd;
    bool asks = what == F_GETLK || what == F_OFD_GETLK || what == F_GETOWN_EX;
    if (result >= 0 && asks)
        written((void *)argument, what == F_GETOWN_EX ? sizeof(struct f_owner_ex) : sizeof(struct flock));
    return result;
}

#define CONTROLS(name)                                                                         \
    REAL(int, name, int fd, int what, ...)                                                     \
    {                                                                                          \
        va_list list;                                                                          \
        va_start(list, what);                                                                  \
        long argument = va_arg(list, long);                                                    \
        va_end(list);                                                                          \
        return (int)control(fd, what, argument, __real_##name(fd, what, argument));            \
    }

CONTROLS(fcntl)
CONTROLS(fcntl64)

/* A stream's buffer: libc fills it, and macros read it in the program's own code. */
REAL(int, setvbuf, FILE *stream, char *buffer, int mode, size_t size)
{
    written(buffer, size);
    return __real_setvbuf(stream, buffer, mode, size);
}

REAL(void, setbuf, FILE *stream, char *buffer)
{
    written(buffer, BUFSIZ);
    __real_setbuf(stream, buffer);
}

REAL(void, setbuffer, FILE *stream, char *buffer, size_t size)
{
    written(buffer, size);
    __real_setbuffer(stream, buffer, size);
}

REAL(int, nanosleep, const struct timespec *time, struct timespec *rest)
{
    int result = __real_nanosleep(time, rest);
    written(rest, sizeof *rest);
    return result;
}

REAL(int, clock_nanosleep, clockid_t clock, int how, const struct timespec *time, struct timespec *rest)
{
    int result = __real_clock_nanosleep(clock, how, time, rest);
    written(rest, sizeof *rest);
    return result;
}

REAL(time_t, timegm, struct tm *parts)
{
    time_t time = __real_timegm(parts);
    written(parts, sizeof *parts);
    return time;
}

/* GNU's own interface of regular expressions. */
static void matched(struct re_registers *found)
{
    if (found == NULL)
        return;
    written(found, sizeof *found);
    written(found->start, found->num_regs * sizeof *found->start);
    written(found->end, found->num_regs * sizeof *found->end);
}

REAL(const char *, re_compile_pattern, const char *text, size_t size, struct re_pattern_buffer *to)
{
    const char *trouble = __real_re_compile_pattern(text, size, to);
    written(to, sizeof *to);
    return trouble;
}

REAL(int, re_compile_fastmap, struct re_pattern_buffer *pattern)
{
    int result = __real_re_compile_fastmap(pattern);
    written(pattern, sizeof *pattern);
    return result;
}

REAL(int, re_search, struct re_pattern_buffer *pattern, const char *text, int size, int from, int range,
     struct re_registers *found)
{
    int at = __real_re_search(pattern, text, size, from, range, found);
    written(pattern, sizeof *pattern);
    matched(found);
    return at;
}

REAL(int, re_match, struct re_pattern_buffer *pattern, const char *text, int size, int from,
     struct re_registers *found)
{
    int length = __real_re_match(pattern, text, size, from, found);
    written(pattern, sizeof *pattern);
    matched(found);
    return length;
}

REAL(void, re_set_registers, struct re_pattern_buffer *pattern, struct re_registers *found, unsigned n,
     regoff_t *start, regoff_t *end)
{
    __real_re_set_registers(pattern, found, n, start, end);
    written(pattern, sizeof *pattern);
    written(found, sizeof *found);
}

/* Code without instrumentation comes into the process: what it writes is not known, so nothing that is
 * said from here on counts. The words are those of `engine::complaint::memory`. */
REAL(void *, dlopen, const char *path, int how)
{
    void *library = __real_dlopen(path, how);
    static const char words[] = "==nearmiss: a library was loaded\n";
    if (library != NULL && path != NULL && write(2, words, sizeof words - 1) < 0)
        return library;
    return library;
}
