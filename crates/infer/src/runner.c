/* Runs many calls of one function: each argument lies between guard pages, so that the first byte before or behind
 * it faults. What stands above this in the generated file:
 *
 *   NUMBERS, BLOCKS            how many numbers and pointers a test has
 *   struct home homes[]        where each number and each pointer goes: an argument (block -1), or a member
 *   void call(numbers, pointers)
 *
 * Tests are read from argv[1], what became of them is written to argv[2]. A child runs tests until one fails; then
 * the next child goes on with the next group, so no failure leaves anything behind. A group may ask for a new child:
 * then no earlier call has left anything in static variables either.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define NM_PAGE 4096u
#define NM_ROOM (5u * NM_PAGE)
#define NM_RUNNING (-2)
#define NM_DONE (-1)
#define NM_TIME 1000
#define NM_ENDED 1001
#define NM_WAITS 1002

struct nm_group {
    uint32_t tests, fresh;
    uint64_t offset;
};

/* What became of a group: the failing test, how, on which side of which block. */
struct nm_result {
    int32_t test;    /* NM_DONE: none failed */
    int32_t signal;
    int32_t side;    /* 0: objects end at a guard page, 1: they begin at one */
    int32_t block;   /* whose guard page was touched; -1: another address */
    int64_t distance; /* bytes behind the end, or before the start if negative */
};

static unsigned char *nm_arena[BLOCKS + 1];
static unsigned char *nm_start[BLOCKS + 1], *nm_end[BLOCKS + 1];
static struct nm_result *volatile nm_now;
static pid_t nm_self;

/* Blocks of arguments are no memory of malloc's, but a function may free or grow them as if they were. */
void __libc_free(void *);
void *__libc_realloc(void *, size_t);
static unsigned char nm_freed[BLOCKS + 1];

static int nm_block_at(const void *p)
{
    for (int i = 0; i < BLOCKS; i++)
        if ((const unsigned char *)p >= nm_arena[i] && (const unsigned char *)p <= nm_arena[i] + NM_ROOM && nm_arena[i])
            return i;
    return -1;
}

void free(void *p)
{
    int block = p == NULL ? -1 : nm_block_at(p);
    if (block < 0) {
        __libc_free(p);
        return;
    }
    if (p != nm_start[block] || nm_freed[block])
        abort();
    nm_freed[block] = 1;
}

void *realloc(void *p, size_t size)
{
    int block = p == NULL ? -1 : nm_block_at(p);
    if (block < 0)
        return __libc_realloc(p, size);
    size_t old = (size_t)(nm_end[block] - nm_start[block]);
    unsigned char *new = malloc(size);
    if (new == NULL)
        return NULL;
    memcpy(new, nm_start[block], old < size ? old : size);
    free(p);
    return new;
}

static void nm_fault(int signal, siginfo_t *info, void *context)
{
    (void)context;
    struct nm_result *now = nm_now;
    now->signal = signal == SIGPROF ? NM_TIME : signal;
    now->block = -1;
    now->distance = 0;
    if (signal == SIGSEGV || signal == SIGBUS) {
        unsigned char *at = info->si_addr;
        for (int i = 0; i < BLOCKS; i++)
            if (at >= nm_arena[i] - 64 * NM_PAGE && at < nm_arena[i] + NM_ROOM + 64 * NM_PAGE) {
                now->block = i;
                now->distance = at >= nm_end[i] ? at - nm_end[i] + 1 : at - nm_start[i];
            }
    }
    _exit(3);
}

static void nm_arenas(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        size_t guard = 64 * NM_PAGE;
        unsigned char *all = mmap(NULL, 2 * guard + NM_ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (all == MAP_FAILED || mprotect(all + guard, NM_ROOM, PROT_READ | PROT_WRITE) != 0)
            exit(9);
        nm_arena[i] = all + guard;
    }
}

/* Lays out a test, calls the function, and gives the start of the next test. */
static const unsigned char *nm_run(const unsigned char *at, int side, int only_skip)
{
    int64_t numbers[NUMBERS + 1];
    void *pointers[BLOCKS + 1];
    memcpy(numbers, at, NUMBERS * sizeof *numbers);
    at += NUMBERS * sizeof *numbers;
    for (int i = 0; i < BLOCKS; i++) {
        int32_t kind;
        uint32_t before;
        uint64_t size;
        memcpy(&kind, at, 4);
        memcpy(&before, at + 4, 4);
        memcpy(&size, at + 8, 8);
        at += 16;
        if (!only_skip) {
            if (kind >= 0) {
                nm_start[i] = nm_start[kind];
                nm_end[i] = nm_end[kind];
                pointers[i] = pointers[kind];
            } else {
                nm_start[i] = side ? nm_arena[i] : nm_arena[i] + NM_ROOM - size;
                nm_end[i] = nm_start[i] + size;
                memcpy(nm_start[i], at, size);
                pointers[i] = kind == -2 ? NULL : nm_start[i] + before;
            }
        }
        at += (size + 7) / 8 * 8;
    }
    if (only_skip)
        return at;
    for (int i = 0; i < NUMBERS + BLOCKS; i++) {
        const struct nm_home *home = &nm_homes[i];
        if (home->block < 0 || pointers[home->block] == NULL)
            continue;
        unsigned char *to = (unsigned char *)pointers[home->block] + home->offset;
        if (to + home->size <= nm_end[home->block])
            memcpy(to, i < NUMBERS ? (void *)&numbers[i] : (void *)&pointers[i - NUMBERS], home->size);
    }
    memset(nm_freed, 0, sizeof nm_freed);
    nm_call(numbers, pointers);
    /* A function that forks comes back twice. */
    if (getpid() != nm_self)
        _exit(0);
    return at;
}

static void nm_child(const unsigned char *tests, const struct nm_group *groups, struct nm_result *results,
                     uint32_t from, uint32_t count)
{
    nm_self = getpid();
    static unsigned char stack[1 << 16];
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&other, NULL);
    sigset_t none_blocked;
    sigemptyset(&none_blocked);
    sigprocmask(SIG_SETMASK, &none_blocked, NULL);
    struct sigaction action = {.sa_sigaction = nm_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGPROF, SIGSYS};
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    for (uint32_t group = from; group < count; group++) {
        if (group > from && groups[group].fresh)
            break;
        struct itimerval timer = {.it_value = {.tv_usec = 400000}};
        setitimer(ITIMER_PROF, &timer, NULL);
        struct nm_result *now = nm_now = &results[group];
        const unsigned char *at = tests + groups[group].offset;
        for (uint32_t test = 0; test < groups[group].tests; test++) {
            now->test = (int32_t)test;
            const unsigned char *next = at;
            for (int side = 0; side < 2; side++) {
                now->side = side;
                next = nm_run(at, side, 0);
            }
            at = next;
        }
        now->test = NM_DONE;
    }
    _exit(0);
}

/* Whether a process sleeps: one that only has no processor to run on does not. */
static int nm_sleeps(pid_t child)
{
    char path[40], text[256];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)child);
    int fd = open(path, O_RDONLY);
    ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (size <= 0)
        return 0;
    text[size] = 0;
    const char *end = strrchr(text, ')');
    return end != NULL && end[1] == ' ' && end[2] == 'S';
}

/* Waits for a child; one that sleeps for a second and does nothing else is ended. True if it was. */
static int nm_wait(pid_t child, int *status)
{
    int asleep = 0;
    for (;;) {
        sigset_t signals;
        sigemptyset(&signals);
        sigaddset(&signals, SIGCHLD);
        struct timespec time = {.tv_nsec = 100000000};
        pid_t ended = waitpid(child, status, WNOHANG);
        if (ended == child)
            return 0;
        if (ended == 0 && sigtimedwait(&signals, NULL, &time) < 0 && errno == EAGAIN)
            asleep = nm_sleeps(child) ? asleep + 1 : 0;
        if (asleep == 10) {
            kill(child, SIGKILL);
            while (waitpid(child, status, 0) < 0 && errno == EINTR)
                ;
            return 1;
        }
    }
}

static void *nm_map(const char *path, int is_result, size_t *size)
{
    int fd = open(path, is_result ? O_RDWR : O_RDONLY);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0)
        exit(9);
    void *all = mmap(NULL, (size_t)status.st_size, is_result ? PROT_READ | PROT_WRITE : PROT_READ,
                     MAP_SHARED, fd, 0);
    if (all == MAP_FAILED)
        exit(9);
    close(fd);
    *size = (size_t)status.st_size;
    return all;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 9;
    size_t size, result_size;
    const unsigned char *tests = nm_map(argv[1], 0, &size);
    struct nm_result *results = nm_map(argv[2], 1, &result_size);
    uint32_t count;
    memcpy(&count, tests, 4);
    const struct nm_group *groups = (const struct nm_group *)(tests + 8);
    int null = open("/dev/null", O_RDWR);
    dup2(null, 0);
    dup2(null, 1);
    dup2(null, 2);
    nm_arenas();
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    for (uint32_t next = 0; next < count;) {
        pid_t child = fork();
        if (child < 0)
            return 9;
        if (child == 0)
            nm_child(tests, groups, results, next, count);
        int status;
        int waits = nm_wait(child, &status);
        uint32_t first = next;
        while (next < count && results[next].test == NM_DONE && (next == first || !groups[next].fresh))
            next++;
        if (next == count || (next > first && groups[next].fresh && results[next].test == NM_RUNNING))
            continue;
        /* This one failed. The handler has said how, unless the process ended by itself. */
        if (results[next].signal == 0 && waits)
            results[next].signal = NM_WAITS;
        if (results[next].signal == 0)
            results[next].signal = WIFSIGNALED(status) ? WTERMSIG(status) : NM_ENDED;
        next++;
    }
    return 0;
}
