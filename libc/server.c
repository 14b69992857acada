/* Many runs of one process, for the sanitizer twin and for programs that count coverage: what
 * crates/rt/src/server.rs is for programs that record. `abi::server` has the words that the engine
 * speaks; this is its C.
 *
 * The program stops in its last constructor: this file is linked behind the program's own. replay.c
 * refers to it, so whoever has inputs has a server.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <nearmiss.h>

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "restart.h"

#define MAGIC 0x314452414f424d4eu /* "NMBOARD1" */
#define ABI_VERSION 9
#define QUIT UINT32_MAX

struct board {
    uint64_t magic;
    uint32_t abi_version;
    uint32_t request, answer, ready;
    uint32_t mode, time_limit;
    int32_t status;
    uint32_t timed_out;
    uint32_t input_size, result_size, results_lost;
    uint32_t restarts, fresh, begun;
};

#define INPUT_OFFSET 4096u
#define INPUT_ROOM (1u << 20)
#define RESULT_OFFSET (INPUT_OFFSET + INPUT_ROOM)
#define RESULT_ROOM (1u << 20)
#define BOARD_SIZE (RESULT_OFFSET + RESULT_ROOM)

/* Newer libraries have them. */
extern pid_t _Fork(void) __attribute__((weak));
extern char __libc_single_threaded __attribute__((weak));

static struct board *board;
static int complaints = -1;
/* Whether this process, or the next child, runs `main` more than once. */
static bool restarts;

/* The rows of the engine, if it gives inputs by the board. */
bool __nm_board_rows(const unsigned char **rows, size_t *size)
{
    if (board == NULL)
        return false;
    *rows = (const unsigned char *)board + INPUT_OFFSET;
    *size = board->input_size < INPUT_ROOM ? board->input_size : INPUT_ROOM;
    return true;
}

unsigned __nm_mode(void)
{
    return board != NULL ? board->mode : 0;
}

/* Nothing is recorded here. */
void __nm_mark(unsigned phase)
{
    (void)phase;
}

unsigned long __nm_concrete(unsigned long value)
{
    return value;
}

/* Only sanitized programs have it. */
extern void __asan_poison_memory_region(const volatile void *start, size_t size) __attribute__((weak));
extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));
extern void __sanitizer_print_stack_trace(void) __attribute__((weak));

/* A block of exactly its size, so that one byte further is outside. AddressSanitizer lets whoever asks
 * for nothing use one byte. */
void *__nm_block(unsigned long capacity, unsigned long size, const void *content, unsigned long *room)
{
    void *block = malloc(size);
    (void)capacity;
    *room = size;
    if (block != NULL)
        memcpy(block, content, size);
    if (block != NULL && size == 0 && __asan_poison_memory_region != NULL)
        __asan_poison_memory_region(block, 1);
    return block;
}

/* Byte by byte: a sanitizer's `memcpy` would judge memory that the harness only looks at. */
static void copy(unsigned char *to, const void *from, size_t size)
{
    const volatile unsigned char *bytes = from;
    for (size_t i = 0; i < size; i++)
        to[i] = bytes[i];
}

void nearmiss_result(const char *name, const void *start, size_t size)
{
    if (board == NULL)
        return;
    size_t name_size = name != NULL ? strlen(name) : 0, used = board->result_size;
    uint32_t numbers[3] = {(uint32_t)name_size, 0, (uint32_t)size};
    size_t room = used < RESULT_ROOM ? RESULT_ROOM - used : 0;
    if (size > room || name_size > room - size || sizeof numbers > room - size - name_size) {
        board->results_lost++;
        return;
    }
    unsigned char *row = (unsigned char *)board + RESULT_OFFSET + used;
    copy(row, numbers, sizeof numbers);
    copy(row + sizeof numbers, name, name_size);
    copy(row + sizeof numbers + name_size, start, size);
    __atomic_store_n(&board->result_size, (uint32_t)(used + sizeof numbers + name_size + size),
                     __ATOMIC_RELEASE);
}

static uint32_t wait_for_change(uint32_t *word, uint32_t old)
{
    for (;;) {
        uint32_t value = __atomic_load_n(word, __ATOMIC_ACQUIRE);
        if (value != old)
            return value;
        syscall(SYS_futex, word, FUTEX_WAIT, old, NULL, NULL, 0);
    }
}

static void set_and_wake(uint32_t *word, uint32_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* How long to wait before looking whether the end of a child is still wanted. */
#define PAUSE 50

/* How long a run may still take, and which one: the next request may be made without the server's doing. */
struct watch {
    uint32_t request;
    int left;
};

/* Whether the run that is watched goes on being wanted, another pause later. */
static bool is_wanted(struct watch *watch)
{
    uint32_t request = __atomic_load_n(&board->request, __ATOMIC_ACQUIRE);
    if (restarts && request != QUIT && request == __atomic_load_n(&board->answer, __ATOMIC_ACQUIRE))
        return true;
    if (restarts && request != QUIT && request != watch->request) {
        uint32_t limit = board->time_limit;
        *watch = (struct watch){request, limit == 0 ? 1 : limit > INT_MAX ? INT_MAX : (int)limit};
    }
    watch->left -= PAUSE;
    return watch->left > 0 && request == watch->request;
}

/* Whether a child that has this request ends in time, while that is wanted. */
static bool ends_in_time(pid_t child, uint32_t request)
{
    uint32_t limit = board->time_limit;
    struct watch watch = {request, limit == 0 ? 1 : limit > INT_MAX ? INT_MAX : (int)limit};
    int fd = (int)syscall(SYS_pidfd_open, child, 0);
    if (fd < 0)
        return true;
    struct pollfd awaited = {.fd = fd, .events = POLLIN};
    int ready;
    do {
        int pause = watch.left < PAUSE ? watch.left : PAUSE;
        ready = poll(&awaited, 1, pause);
    } while (ready < 0 || (ready == 0 && is_wanted(&watch)));
    close(fd);
    return ready > 0;
}

static void reap_orphans(void)
{
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
}

/* Where there is but one thread, no lock is held that a child could wait for, and no handler is
 * needed: AddressSanitizer's looks at megabytes. */
static pid_t fork_cheaply(void)
{
    bool is_alone = &__libc_single_threaded != NULL && __libc_single_threaded;
    return _Fork != NULL && is_alone ? _Fork() : fork();
}

/* A child, as soon as there is room for one. */
static pid_t fork_patiently(void)
{
    for (int i = 0; i < 2000; i++) {
        pid_t child = fork_cheaply();
        if (child >= 0)
            return child;
        reap_orphans();
        usleep(1000);
    }
    _exit(1);
}

/* Waits for a child; whether it ended in time, and how. */
static bool wait_for_child(pid_t child, uint32_t request, int *status)
{
    bool in_time = ends_in_time(child, request);
    if (!in_time)
        kill(child, SIGKILL);
    /* What the child started ends with it. It is not yet waited for: nobody else has its number. */
    kill(-child, SIGKILL);
    *status = 0;
    while (waitpid(child, status, 0) < 0 && waitpid(child, status, WNOHANG) == 0)
        ;
    reap_orphans();
    return in_time;
}

static uint32_t next_request(uint32_t number)
{
    uint32_t next = wait_for_change(&board->request, number);
    if (next == QUIT)
        _exit(0);
    return next;
}

/* The answer to the last request is the engine's until it makes the next one. */
static void get_ready(uint32_t number)
{
    number = next_request(number);
    if (restarts && board->fresh)
        _exit(RETIRED);
    __atomic_store_n(&board->begun, number, __ATOMIC_RELEASE);
    board->result_size = 0;
    board->results_lost = 0;
}

/* AddressSanitizer ends the process behind its report: here only the run. */
static void on_death(void)
{
    if (__nm_restart_leave != NULL)
        __nm_restart_leave(1);
}

static void become_run(uint32_t number)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    if (restarts && __sanitizer_set_death_callback != NULL)
        __sanitizer_set_death_callback(on_death);
    get_ready(number);
    if (complaints >= 0 && ftruncate(complaints, 0) != 0)
        complaints = -1;
    /* As every program finds it. */
    errno = 0;
}

bool __nm_restart_wanted(void)
{
    return board != NULL;
}

bool __nm_restart_many(void)
{
    return restarts;
}

/* Nothing is recorded here. */
void __nm_restart_ended(int status)
{
    (void)status;
}

void __nm_restart_answer(int status)
{
    uint32_t number = __atomic_load_n(&board->request, __ATOMIC_RELAXED);
    board->status = (status & 0xff) << 8;
    board->timed_out = 0;
    set_and_wake(&board->answer, number);
}

void __nm_restart_wait(void)
{
    get_ready(__atomic_load_n(&board->answer, __ATOMIC_RELAXED));
}

/* Children that made fewer runs than this on average cost more than they save. */
#define WORTH 4
#define TRIALS 16

/* Waits until a child that answers by itself has ended, and answers for it if it ended in the middle of a run; whether
 * the last request is to be run by a fresh child. The answers of the child stay as they are: the engine may be reading
 * them. */
static bool look_after(pid_t child, uint32_t request, uint32_t children)
{
    int status;
    bool in_time = wait_for_child(child, request, &status);
    /* The next request may be made at any time, and is none that this child has seen. */
    uint32_t number = __atomic_load_n(&board->request, __ATOMIC_ACQUIRE), answer = board->answer;
    if (number == QUIT) {
        /* The run under way is over, if there was one. */
        board->timed_out = 1;
        set_and_wake(&board->answer, answer + 1);
        _exit(0);
    }
    if (children > TRIALS && answer < children * WORTH)
        board->restarts = 0;
    if (number == answer)
        return false;
    bool has_begun = __atomic_load_n(&board->begun, __ATOMIC_ACQUIRE) == number;
    if (has_begun && status != RETIRED << 8) {
        board->status = status;
        board->timed_out = !in_time;
        set_and_wake(&board->answer, number);
        return false;
    }
    /* What nothing has begun is for the next child, unless no such one may. */
    return has_begun || board->fresh || !in_time;
}

/* Waits for the child of one run, and answers. */
static void answer_for(pid_t child, uint32_t number)
{
    int status;
    bool in_time = wait_for_child(child, number, &status);
    board->status = status;
    /* One that found the request to end has not run at all. */
    board->timed_out = !in_time || __atomic_load_n(&board->request, __ATOMIC_ACQUIRE) == QUIT;
    set_and_wake(&board->answer, number);
}

/* Returns in every child, which is there before its request is: forking takes longer than many a
 * run. */
static void serve(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* What runs leave behind is ours to wait for. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    board->answer = 0;
    set_and_wake(&board->ready, 1);
    uint32_t number = 0, children = 0;
    for (;;) {
        restarts = board->restarts != 0 && number + 1 >= board->restarts;
        pid_t child = fork_patiently();
        if (child == 0) {
            become_run(number);
            return;
        }
        number = next_request(number);
        if (restarts) {
            bool is_given_up = look_after(child, number, ++children);
            number = board->answer;
            if (!is_given_up)
                continue;
            restarts = false;
            child = fork_patiently();
            if (child == 0) {
                become_run(number);
                return;
            }
            /* Not as it is now: it may say that the program is to end. */
            number++;
        }
        answer_for(child, number);
    }
}

static void become(int fd, int standard)
{
    if (fd >= 0 && fd != standard) {
        dup2(fd, standard);
        close(fd);
    }
}

/* Standard output goes nowhere, standard error into a file beside the board. */
static void open_output(const char *path)
{
    char name[4096];
    become(open("/dev/null", O_RDWR), STDOUT_FILENO);
    int length = snprintf(name, sizeof name, "%s.err", path);
    if (length < 0 || (size_t)length >= sizeof name)
        return;
    int fd = open(name, O_RDWR | O_CREAT | O_APPEND, 0600);
    if (fd >= 0) {
        become(fd, STDERR_FILENO);
        complaints = STDERR_FILENO;
    }
}

static struct board *map_board(const char *path)
{
    struct stat status;
    void *mapped = MAP_FAILED;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) == 0 && status.st_size >= (off_t)BOARD_SIZE)
        mapped = mmap(NULL, BOARD_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return mapped != MAP_FAILED ? mapped : NULL;
}

__attribute__((constructor)) static void start(void)
{
    const char *path = getauxval(AT_SECURE) == 0 ? getenv("NEARMISS_SERVER") : NULL;
    board = path != NULL ? map_board(path) : NULL;
    if (board == NULL)
        return;
    /* A program that a child executes has the same environment: its board is in use already. */
    if (board->magic != MAGIC || board->abi_version != ABI_VERSION || board->ready != 0) {
        munmap(board, BOARD_SIZE);
        board = NULL;
        return;
    }
    open_output(path);
    /* The sanitizer looks at what is loaded when it reports for the first time: not in every child. */
    if (__sanitizer_print_stack_trace != NULL && complaints >= 0)
        __sanitizer_print_stack_trace();
    serve();
}
