/* Clocks, random numbers and process numbers of the sanitizer twin: it is given what the first run
 * of the program got, as the program itself is in later runs (crates/rt/src/chance.rs, whose rules
 * these are; `abi::chance` has the format of NEARMISS_CHANCE). The twin is linked with `--wrap` for
 * each of these functions (crates/twin); without the variable they are what they wrap.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#define STREAMS 32
#define SECOND 1000000000LL
#define STEP 1000000

enum { REALTIME, MONOTONIC, PROCESSOR, THREAD, CLOCKS };

/* The values of one function: two hexadecimal digits for each byte. */
struct stream {
    char name[32];
    uint32_t process;
    const char *digits;
    size_t size, used;
};

static struct stream streams[STREAMS];
static size_t count;
static uint32_t process, forks;
static int64_t clocks[CLOCKS];
static uint64_t generator;
static bool has_devices;
static int lock;

/* Only the memory twin has it; of some functions MemorySanitizer does not know what they write. */
extern void __msan_unpoison(const volatile void *start, size_t size) __attribute__((weak));

static void written(const void *start, size_t size)
{
    if (__msan_unpoison != NULL)
        __msan_unpoison(start, size);
}

static const char *text(void)
{
    static const char *found;
    static bool looked;
    if (!looked) {
        looked = true;
        found = getenv("NEARMISS_CHANCE");
    }
    return found;
}

/* A signal handler may come in between: it gets the real value. */
static bool enter(void)
{
    if (text() == NULL)
        return false;
    for (int patience = 0; patience < 1 << 12; patience++)
        if (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE) == 0)
            return true;
    return false;
}

static void leave(void)
{
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

static struct stream *stream_of(const char *name, uint32_t of)
{
    char key[64];
    for (size_t i = 0; i < count; i++)
        if (streams[i].process == of && strcmp(streams[i].name, name) == 0)
            return &streams[i];
    if (count == STREAMS || strlen(name) >= sizeof streams->name)
        return NULL;
    struct stream *new = &streams[count++];
    *new = (struct stream){.process = of};
    strcpy(new->name, name);
    int size = snprintf(key, sizeof key, "%s:%u=", name, of);
    for (const char *row = text(); row != NULL; row = strchr(row, ';')) {
        row += *row == ';';
        if (strncmp(row, key, (size_t)size) == 0) {
            new->digits = row + size;
            new->size = strcspn(new->digits, ";") / 2;
            break;
        }
    }
    return new;
}

static unsigned digit(char c)
{
    return c >= 'a' ? (unsigned)(c - 'a' + 10) : (unsigned)(c - '0') & 15;
}

static bool take(struct stream *from, void *to, size_t size)
{
    if (from == NULL || from->size - from->used < size)
        return false;
    for (size_t i = 0; i < size; i++, from->used++) {
        const char *pair = from->digits + 2 * from->used;
        ((unsigned char *)to)[i] = (unsigned char)(digit(pair[0]) << 4 | digit(pair[1]));
    }
    return true;
}

static int kind_of_clock(clockid_t clock)
{
    switch (clock) {
    case 0: case 5: case 8: case 11: return REALTIME;
    case 1: case 4: case 6: case 7: case 9: return MONOTONIC;
    case 2: return PROCESSOR;
    case 3: return THREAD;
    default: return -1;
    }
}

static int64_t last(int kind, int64_t now)
{
    int64_t started;
    if (clocks[kind] != 0)
        return clocks[kind];
    if (kind > MONOTONIC)
        return 0;
    const char *name = kind == REALTIME ? "started-realtime" : "started-monotonic";
    return take(stream_of(name, 0), &started, sizeof started) ? started : now;
}

static int64_t show(const char *name, clockid_t clock, int64_t now)
{
    int kind = kind_of_clock(clock);
    if (kind < 0 || !enter())
        return now;
    int64_t shown;
    if (!take(stream_of(name, process), &shown, sizeof shown))
        shown = last(kind, now) + STEP;
    if (shown > clocks[kind])
        clocks[kind] = shown;
    leave();
    return shown;
}

static unsigned char generate(void)
{
    generator += 0x9e3779b97f4a7c15u;
    uint64_t word = generator ^ process;
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9u;
    word = (word ^ word >> 27) * 0x94d049bb133111ebu;
    return (unsigned char)(word ^ word >> 31);
}

static void random_bytes(const char *name, void *to, size_t size)
{
    written(to, size);
    if (!enter())
        return;
    struct stream *stream = stream_of(name, process);
    unsigned char *bytes = to;
    for (size_t i = 0; i < size; i++)
        if (!take(stream, &bytes[i], 1))
            bytes[i] = generate();
    leave();
}

/* A record of a fixed size; beyond the captured ones the last one. */
static void give(const char *name, void *to, size_t size)
{
    if (!enter())
        return;
    struct stream *stream = stream_of(name, process);
    if (stream != NULL && stream->size >= size && !take(stream, to, size)) {
        stream->used = stream->size - size;
        take(stream, to, size);
    }
    leave();
}

static int parent(int real)
{
    int shown = real;
    if (!enter())
        return real;
    struct stream *stream = process == 0 ? stream_of("getppid", 0) : NULL;
    if (stream != NULL) {
        stream->used = 0;
        take(stream, &shown, sizeof shown);
    }
    leave();
    return shown;
}

__attribute__((constructor(101))) static void start(void)
{
    unsigned char *bytes = (unsigned char *)getauxval(AT_RANDOM);
    if (bytes != NULL)
        give("AT_RANDOM", bytes, 16);
}

#define REAL(result, name, ...)                                                                \
    __attribute__((weak)) result __real_##name(__VA_ARGS__);                                   \
    result __wrap_##name(__VA_ARGS__)

static void show_in(const char *name, clockid_t clock, int64_t *time, int64_t unit)
{
    int64_t shown = show(name, clock, time[0] * SECOND + time[1] * unit);
    time[0] = shown / SECOND;
    time[1] = shown % SECOND / unit;
}

REAL(time_t, time, time_t *to)
{
    time_t now = __real_time(to);
    if (now == (time_t)-1)
        return now;
    now = show("time", CLOCK_REALTIME, now * SECOND) / SECOND;
    if (to != NULL)
        *to = now;
    return now;
}

REAL(int, clock_gettime, clockid_t clock, struct timespec *to)
{
    char name[32];
    int result = __real_clock_gettime(clock, to);
    snprintf(name, sizeof name, "clock_gettime-%u", (unsigned)clock);
    if (result == 0)
        show_in(name, clock, (int64_t *)to, 1);
    return result;
}

REAL(int, gettimeofday, struct timeval *to, void *zone)
{
    int result = __real_gettimeofday(to, zone);
    if (result == 0 && to != NULL)
        show_in("gettimeofday", CLOCK_REALTIME, (int64_t *)to, 1000);
    return result;
}

REAL(int, timespec_get, struct timespec *to, int base)
{
    int result = __real_timespec_get(to, base);
    written(to, sizeof *to);
    if (result == TIME_UTC)
        show_in("timespec_get", CLOCK_REALTIME, (int64_t *)to, 1);
    return result;
}

REAL(clock_t, clock, void)
{
    clock_t used = __real_clock();
    return used == -1 ? used : show("clock", CLOCK_PROCESS_CPUTIME_ID, used * 1000) / 1000;
}

REAL(clock_t, times, struct tms *to)
{
    clock_t ticks = __real_times(to);
    if (ticks == -1)
        return ticks;
    give("times", &ticks, sizeof ticks);
    if (to != NULL)
        give("times-record", to, sizeof *to);
    return ticks;
}

REAL(int, getrusage, int of, struct rusage *to)
{
    char name[32];
    int result = __real_getrusage(of, to);
    snprintf(name, sizeof name, "getrusage-%u", (unsigned)of);
    if (result == 0)
        give(name, to, sizeof *to);
    return result;
}

REAL(int, sysinfo, struct sysinfo *to)
{
    int result = __real_sysinfo(to);
    if (result == 0)
        give("sysinfo", to, sizeof *to);
    return result;
}

REAL(int, getloadavg, double *to, int wanted)
{
    int got = __real_getloadavg(to, wanted);
    if (got > 0)
        give("getloadavg", to, (size_t)got * sizeof *to);
    return got;
}

REAL(pid_t, getppid, void)
{
    return parent(__real_getppid());
}

REAL(ssize_t, getrandom, void *to, size_t size, unsigned how)
{
    ssize_t got = __real_getrandom(to, size, how);
    if (got > 0)
        random_bytes("getrandom", to, (size_t)got);
    return got;
}

REAL(int, getentropy, void *to, size_t size)
{
    int result = __real_getentropy(to, size);
    if (result == 0)
        random_bytes("getentropy", to, size);
    return result;
}

REAL(uint32_t, arc4random, void)
{
    uint32_t number = __real_arc4random();
    random_bytes("arc4random", &number, sizeof number);
    return number;
}

REAL(void, arc4random_buf, void *to, size_t size)
{
    __real_arc4random_buf(to, size);
    random_bytes("arc4random", to, size);
}

REAL(uint32_t, arc4random_uniform, uint32_t bound)
{
    uint32_t number = __real_arc4random_uniform(bound);
    random_bytes("arc4random_uniform", &number, sizeof number);
    return bound < 2 ? 0 : number % bound;
}

REAL(long, syscall, long number, long a, long b, long c, long d, long e, long f)
{
    char name[32];
    long result = __real_syscall(number, a, b, c, d, e, f);
    if (result < 0)
        return result;
    switch (number) {
    case SYS_getrandom:
        random_bytes("getrandom", (void *)a, (size_t)result);
        break;
    case SYS_gettimeofday:
        if (a != 0)
            show_in("gettimeofday", CLOCK_REALTIME, (int64_t *)a, 1000);
        break;
    case SYS_clock_gettime:
        snprintf(name, sizeof name, "clock_gettime-%u", (unsigned)a);
        show_in(name, (clockid_t)a, (int64_t *)b, 1);
        break;
    case SYS_time:
        return a == 0 ? show("time", CLOCK_REALTIME, result * SECOND) / SECOND : result;
    case SYS_getppid:
        return parent((int)result);
    }
    return result;
}

REAL(pid_t, fork, void)
{
    uint32_t number = process * 64 + forks++ + 1;
    pid_t child = __real_fork();
    if (child == 0) {
        process = number;
        forks = count = 0;
        leave();
    }
    return child;
}

/* Random devices: what comes from them is replaced where it is read (flow.c has `read`). */
static void look_at(const char *path)
{
    if (path != NULL && (strcmp(path, "/dev/urandom") == 0 || strcmp(path, "/dev/random") == 0))
        has_devices = text() != NULL;
}

void __nm_chance_read(int fd, void *to, ssize_t got)
{
    struct stat status;
    if (has_devices && got > 0 && fstat(fd, &status) == 0 && S_ISCHR(status.st_mode)
        && major(status.st_rdev) == 1 && (minor(status.st_rdev) & ~1u) == 8)
        random_bytes("random-device", to, (size_t)got);
}

#define OPENS(name)                                                                            \
    REAL(int, name, const char *path, int how, ...)                                            \
    {                                                                                          \
        va_list list;                                                                          \
        va_start(list, how);                                                                   \
        mode_t mode = (how & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(list, mode_t) : 0;           \
        va_end(list);                                                                          \
        int fd = __real_##name(path, how, mode);                                               \
        if (fd >= 0)                                                                           \
            look_at(path);                                                                     \
        return fd;                                                                             \
    }

OPENS(open)
OPENS(open64)

REAL(FILE *, fopen, const char *path, const char *mode)
{
    FILE *stream = __real_fopen(path, mode);
    if (stream != NULL)
        look_at(path);
    return stream;
}

REAL(FILE *, fopen64, const char *path, const char *mode)
{
    FILE *stream = __real_fopen64(path, mode);
    if (stream != NULL)
        look_at(path);
    return stream;
}

/* `got` items were read from a stream (flow.c has `fread`); gives as many. */
size_t __nm_chance_stream(void *stream, void *to, size_t got, size_t size)
{
    if (has_devices)
        __nm_chance_read(fileno(stream), to, (ssize_t)(got * size));
    return got;
}

#define BYTES(name)                                                                            \
    REAL(int, name, FILE *stream)                                                              \
    {                                                                                          \
        int byte = __real_##name(stream);                                                      \
        unsigned char one = (unsigned char)byte;                                               \
        if (!has_devices || byte < 0)                                                          \
            return byte;                                                                       \
        __nm_chance_read(fileno(stream), &one, 1);                                             \
        return one;                                                                            \
    }

BYTES(getc)
BYTES(fgetc)
