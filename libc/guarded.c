/* Functions that AddressSanitizer does not know, made of functions that it does: for the
 * sanitizer twin, which would otherwise not notice that they leave their memory.
 *
 * Compiled without debug information, so that reports name the program's own line.
 */
#define _GNU_SOURCE 1
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#undef fread_unlocked
#undef fgets_unlocked

#define WEAK __attribute__((weak))

/* Only the memory twin has it. */
extern WEAK void __msan_unpoison(const volatile void *start, size_t size);

WEAK char *stpcpy(char *to, const char *from)
{
    size_t length = strlen(from);
    memcpy(to, from, length + 1);
    return to + length;
}

WEAK unsigned long strtoul(const char *s, char **end, int base)
{
    return strtoumax(s, end, base);
}

WEAK unsigned long long strtoull(const char *s, char **end, int base)
{
    return strtoumax(s, end, base);
}

WEAK char *stpncpy(char *to, const char *from, size_t n)
{
    size_t length = strnlen(from, n);
    memcpy(to, from, length);
    memset(to + length, 0, n - length);
    return to + length;
}

WEAK void *mempcpy(void *to, const void *from, size_t n)
{
    return (char *)memcpy(to, from, n) + n;
}

WEAK void *memccpy(void *to, const void *from, int c, size_t n)
{
    const char *found = memchr(from, c, n);
    size_t count = found != NULL ? (size_t)(found - (const char *)from) + 1 : n;
    memcpy(to, from, count);
    return found != NULL ? (char *)to + count : NULL;
}

WEAK void bcopy(const void *from, void *to, size_t n)
{
    memmove(to, from, n);
}

WEAK void swab(const void *from, void *to, ssize_t n)
{
    for (ssize_t i = 0; i + 1 < n; i += 2) {
        char pair[2] = {((const char *)from)[i + 1], ((const char *)from)[i]};
        // What this frame's memory was before is nothing to MemorySanitizer.
        if (__msan_unpoison != NULL)
            __msan_unpoison(pair, sizeof pair);
        memcpy((char *)to + i, pair, 2);
    }
}

WEAK char *strsep(char **rest, const char *delimiters)
{
    char *token = *rest;
    if (token == NULL)
        return NULL;
    char *end = token + strcspn(token, delimiters);
    *rest = *end != 0 ? end + 1 : NULL;
    *end = 0;
    return token;
}

WEAK char *gets(char *to)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length = getline(&line, &room, stdin);
    if (length <= 0)
        to = NULL;
    else if (line[length - 1] == '\n')
        line[--length] = 0;
    if (to != NULL)
        memcpy(to, line, (size_t)length + 1);
    free(line);
    return to;
}

/* With a size that the compiler knows: the sanitizer knows it better. */

WEAK char *__strcpy_chk(char *to, const char *from, size_t room)
{
    return (void)room, strcpy(to, from);
}

WEAK char *__stpcpy_chk(char *to, const char *from, size_t room)
{
    return (void)room, stpcpy(to, from);
}

WEAK char *__strncpy_chk(char *to, const char *from, size_t n, size_t room)
{
    return (void)room, strncpy(to, from, n);
}

WEAK char *__stpncpy_chk(char *to, const char *from, size_t n, size_t room)
{
    return (void)room, stpncpy(to, from, n);
}

WEAK char *__strcat_chk(char *to, const char *from, size_t room)
{
    return (void)room, strcat(to, from);
}

WEAK char *__strncat_chk(char *to, const char *from, size_t n, size_t room)
{
    return (void)room, strncat(to, from, n);
}

WEAK void *__memcpy_chk(void *to, const void *from, size_t n, size_t room)
{
    return (void)room, memcpy(to, from, n);
}

WEAK void *__memmove_chk(void *to, const void *from, size_t n, size_t room)
{
    return (void)room, memmove(to, from, n);
}

WEAK void *__mempcpy_chk(void *to, const void *from, size_t n, size_t room)
{
    return (void)room, mempcpy(to, from, n);
}

WEAK void *__memset_chk(void *to, int c, size_t n, size_t room)
{
    return (void)room, memset(to, c, n);
}

WEAK void explicit_bzero(void *to, size_t n)
{
    memset(to, 0, n);
}

WEAK void __explicit_bzero_chk(void *to, size_t n, size_t room)
{
    (void)room, memset(to, 0, n);
}

WEAK ssize_t __read_chk(int fd, void *to, size_t n, size_t room)
{
    return (void)room, read(fd, to, n);
}

WEAK ssize_t __pread_chk(int fd, void *to, size_t n, off_t offset, size_t room)
{
    return (void)room, pread(fd, to, n, offset);
}

WEAK ssize_t __pread64_chk(int fd, void *to, size_t n, off_t offset, size_t room)
{
    return (void)room, pread(fd, to, n, offset);
}

WEAK ssize_t __recv_chk(int fd, void *to, size_t n, size_t room, int flags)
{
    return (void)room, recv(fd, to, n, flags);
}

WEAK ssize_t __recvfrom_chk(int fd, void *to, size_t n, size_t room, int flags, void *address,
                            unsigned *address_room)
{
    return (void)room, recvfrom(fd, to, n, flags, address, address_room);
}

WEAK size_t __fread_chk(void *to, size_t room, size_t size, size_t n, FILE *stream)
{
    return (void)room, fread(to, size, n, stream);
}

WEAK size_t __fread_unlocked_chk(void *to, size_t room, size_t size, size_t n, FILE *stream)
{
    return (void)room, fread(to, size, n, stream);
}

WEAK char *__fgets_chk(char *to, size_t room, int n, FILE *stream)
{
    return (void)room, fgets(to, n, stream);
}

WEAK char *__fgets_unlocked_chk(char *to, size_t room, int n, FILE *stream)
{
    return (void)room, fgets(to, n, stream);
}

WEAK char *fgets_unlocked(char *to, int n, FILE *stream)
{
    return fgets(to, n, stream);
}

WEAK size_t fread_unlocked(void *to, size_t size, size_t n, FILE *stream)
{
    return fread(to, size, n, stream);
}
