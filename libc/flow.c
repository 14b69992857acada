/* Pipes and sockets of the sanitizer twin: what is read from them is replaced by the invented
 * input, as the runtime does in the instrumented program (crates/rt/src/flows.rs); here it may
 * also be longer than what comes: a row "pipe-grown" or "socket-grown" says behind how many real
 * bytes there are how many more. The twin is
 * linked with `--wrap` for each of these functions (crates/twin); without NEARMISS_REPLAY they
 * are what they wrap. A stream over one is a stream of functions, which read as these do. `fread`
 * is here as well, since it can only be wrapped.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define MOST_DESCRIPTORS 4096

enum kind { NOTHING, PIPE, SOCKET };

/* What a descriptor leads to. */
struct flow {
    enum kind kind;
    bool was_read;
    uint32_t index;
    /* Bytes of the invented content that were given, and those that the kernel gave. */
    size_t position, real;
    /* Bytes that the invented content has more than the recorded one, and behind how many real
     * ones they come; those that were due and had no room yet. */
    uint32_t more, more_at;
    size_t due;
};

static struct flow flows[MOST_DESCRIPTORS];
static uint32_t read_so_far[SOCKET + 1];

/* chance.c: what was read may be random bytes. */
void __nm_chance_read(int fd, void *to, ssize_t got);
size_t __nm_chance_stream(void *stream, void *to, size_t got, size_t size);
bool __nm_replay_row(const char *name, uint32_t index, const unsigned char **content, size_t *size);

static struct flow *flow_of(int fd)
{
    return fd >= 0 && fd < MOST_DESCRIPTORS ? &flows[fd] : NULL;
}

static void made(int fd, enum kind kind)
{
    struct flow *flow = flow_of(fd);
    if (flow != NULL)
        *flow = (struct flow){.kind = kind};
}

/* Sanitizers make pipes for themselves and close them without a wrapped function: such a
 * descriptor may be a file by now. */
static bool is_still(enum kind kind, int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0
        && (kind == PIPE ? S_ISFIFO(status.st_mode) : S_ISSOCK(status.st_mode));
}

/* The pipe or socket that is read from a descriptor. */
static struct flow *read_flow(int fd)
{
    static const char *const names[] = {"", "pipe-grown", "socket-grown"};
    struct flow *flow = flow_of(fd);
    if (flow == NULL || flow->kind == NOTHING || !is_still(flow->kind, fd))
        return NULL;
    if (!flow->was_read) {
        flow->was_read = true;
        flow->index = read_so_far[flow->kind]++;
        const unsigned char *grown;
        size_t size;
        if (__nm_replay_row(names[flow->kind], flow->index, &grown, &size) && size == 8) {
            memcpy(&flow->more_at, grown, 4);
            memcpy(&flow->more, grown + 4, 4);
        }
    }
    return flow;
}

/* The next `count` bytes of the invented content. */
static void give(struct flow *flow, void *buffer, size_t count)
{
    static const char *const names[] = {"", "pipe", "socket"};
    const unsigned char *content;
    size_t size;
    if (__nm_replay_row(names[flow->kind], flow->index, &content, &size) && size > flow->position) {
        size_t left = size - flow->position;
        memcpy(buffer, content + flow->position, count < left ? count : left);
    }
    flow->position += count;
}

/* Bytes that are due come before any real ones: how many there are. */
static ssize_t overdue(int fd, void *buffer, size_t size)
{
    struct flow *flow = flow_of(fd);
    if (flow == NULL || flow->due == 0 || size == 0)
        return 0;
    size_t count = flow->due < size ? flow->due : size;
    flow->due -= count;
    give(flow, buffer, count);
    return (ssize_t)count;
}

/* `got` bytes were read: the invented ones take their place, and may be more. */
static ssize_t replace(int fd, void *buffer, size_t size, ssize_t got)
{
    struct flow *flow = got < 0 ? NULL : read_flow(fd);
    if (flow == NULL)
        return got;
    size_t count = (size_t)got < size ? (size_t)got : size, more = 0;
    flow->real += count;
    if (flow->more != 0 && flow->real >= flow->more_at) {
        flow->due += flow->more;
        flow->more = 0;
        more = flow->due < size - count ? flow->due : size - count;
        flow->due -= more;
    }
    give(flow, buffer, count + more);
    return got + (ssize_t)more;
}

#define REAL(result, name, ...)                                                                \
    result __real_##name(__VA_ARGS__);                                                         \
    result __wrap_##name(__VA_ARGS__)

REAL(int, close, int fd)
{
    made(fd, NOTHING);
    return __real_close(fd);
}

static int duplicated(int from, int to)
{
    struct flow *old = flow_of(from), *new = flow_of(to);
    if (new != NULL && old != new)
        *new = old != NULL ? *old : (struct flow){.kind = NOTHING};
    return to;
}

REAL(int, dup, int fd)
{
    return duplicated(fd, __real_dup(fd));
}

REAL(int, dup2, int from, int to)
{
    return duplicated(from, __real_dup2(from, to));
}

REAL(int, pipe, int ends[2])
{
    int result = __real_pipe(ends);
    if (result == 0) {
        made(ends[0], PIPE);
        made(ends[1], PIPE);
    }
    return result;
}

REAL(int, pipe2, int ends[2], int flags)
{
    int result = __real_pipe2(ends, flags);
    if (result == 0) {
        made(ends[0], PIPE);
        made(ends[1], PIPE);
    }
    return result;
}

REAL(int, socket, int domain, int type, int protocol)
{
    int fd = __real_socket(domain, type, protocol);
    made(fd, SOCKET);
    return fd;
}

REAL(int, socketpair, int domain, int type, int protocol, int pair[2])
{
    int result = __real_socketpair(domain, type, protocol, pair);
    if (result == 0) {
        made(pair[0], SOCKET);
        made(pair[1], SOCKET);
    }
    return result;
}

REAL(int, accept, int fd, void *address, socklen_t *size)
{
    int new = __real_accept(fd, address, size);
    made(new, SOCKET);
    return new;
}

REAL(int, accept4, int fd, void *address, socklen_t *size, int flags)
{
    int new = __real_accept4(fd, address, size, flags);
    made(new, SOCKET);
    return new;
}

REAL(ssize_t, read, int fd, void *buffer, size_t size)
{
    ssize_t got = overdue(fd, buffer, size);
    if (got > 0)
        return got;
    got = replace(fd, buffer, size, __real_read(fd, buffer, size));
    __nm_chance_read(fd, buffer, got);
    return got;
}

REAL(ssize_t, recv, int fd, void *buffer, size_t size, int flags)
{
    if (flags & MSG_PEEK)
        return __real_recv(fd, buffer, size, flags);
    ssize_t got = overdue(fd, buffer, size);
    return got > 0 ? got : replace(fd, buffer, size, __real_recv(fd, buffer, size, flags));
}

REAL(ssize_t, recvfrom, int fd, void *buffer, size_t size, int flags, void *address, socklen_t *room)
{
    if (flags & MSG_PEEK)
        return __real_recvfrom(fd, buffer, size, flags, address, room);
    ssize_t got = overdue(fd, buffer, size);
    if (got > 0)
        return got;
    got = __real_recvfrom(fd, buffer, size, flags, address, room);
    return replace(fd, buffer, size, got);
}

/* Streams over pipes and sockets: libc reads ahead by itself, so their bytes must be replaced where
 * they come in (crates/rt/src/models/stdio_flow.rs does the same in the instrumented program). */
static ssize_t read_stream(void *cookie, char *buffer, size_t size)
{
    return read((int)(intptr_t)cookie, buffer, size);
}

static ssize_t write_stream(void *cookie, const char *bytes, size_t size)
{
    ssize_t written = write((int)(intptr_t)cookie, bytes, size);
    return written < 0 ? 0 : written;
}

static int seek_stream(void *cookie, off64_t *offset, int whence)
{
    *offset = lseek64((int)(intptr_t)cookie, *offset, whence);
    return *offset < 0 ? -1 : 0;
}

static int close_stream(void *cookie)
{
    return close((int)(intptr_t)cookie);
}

REAL(FILE *, fdopen, int fd, const char *mode)
{
    static const cookie_io_functions_t functions = {read_stream, write_stream, seek_stream, close_stream};
    bool reads = mode[0] == 'r' || strchr(mode, '+') != NULL;
    /* It has its number from here on, whatever is read first. */
    if (!reads || read_flow(fd) == NULL)
        return __real_fdopen(fd, mode);
    FILE *stream = fopencookie((void *)(intptr_t)fd, mode, functions);
    if (stream != NULL)
        stream->_fileno = fd;
    return stream;
}

/* AddressSanitizer counts whole items only, but part of another one is written, too. */
REAL(size_t, fread, void *to, size_t size, size_t n, void *stream)
{
    size_t bytes;
    if (size <= 1 || __builtin_mul_overflow(size, n, &bytes) || bytes == 0)
        return __nm_chance_stream(stream, to, __real_fread(to, size, n, stream), size);
    size_t got = __nm_chance_stream(stream, to, __real_fread(to, 1, bytes, stream), 1);
    return got == bytes ? n : got / size;
}
