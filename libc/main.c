/* Where `main` begins: with NEARMISS_FORKS in its environment the program stops here, past all of its
 * constructors, and is forked for every run. `abi::forks` has the words that process 1 of the sandbox
 * speaks; this is their C, for the instrumented program and for its twins. Both are linked with
 * `--wrap=main`; without the variable this is a jump.
 *
 * A run is no child of the server but its sibling: its parent is whose parent would be if the program had been
 * started for it alone.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "restart.h"

#define CONTROL 900
#define RUNS 901
#define UNKNOWN UINT64_MAX
#define MOST_TEXT (96u << 10)
#define DESCRIPTORS 3

struct run {
    uint64_t stdin_size, arguments;
};

/* The texts of a run, then pointers to them: no text is shorter than one byte. */
#define POINTERS_OFFSET (128u << 10)
#define BLOCK_SIZE (POINTERS_OFFSET + (MOST_TEXT + 1) * sizeof(char *))

/* In programs that record: the trace is kept as it is before a run; a run that waits gets ready; a run
 * with these arguments begins. */
extern void __nm_forks_keep(void) __attribute__((weak));
extern void __nm_forks_wait(void) __attribute__((weak));
extern void __nm_forks_begin(int count, char **arguments, uint64_t stdin_size) __attribute__((weak));
/* In variants: the tests that the program lists are run instead of `main` (`call_criterion.c`). */
extern bool __nm_call_tests(void) __attribute__((weak));
/* In twins: each text gets memory of its own. */
extern void __nm_set_apart(char **strings) __attribute__((weak));

/* Where libc keeps the thread's number and its list of locks: it cannot be asked to fork in this way. */
static int *thread_number;
static void *locks;
static size_t locks_size;

static bool say(int32_t number)
{
    return send(CONTROL, &number, sizeof number, MSG_NOSIGNAL) == sizeof number;
}

static bool is_ordered(void)
{
    char order;
    ssize_t size;
    do
        size = recv(CONTROL, &order, sizeof order, 0);
    while (size < 0 && errno == EINTR);
    return size > 0;
}

/* Nothing is locked, since there is one thread. */
static int32_t fork_sibling(void)
{
    unsigned long flags = CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD;
    long process = syscall(SYS_clone, flags, NULL, NULL, thread_number, NULL);
    if (process == 0)
        syscall(SYS_set_robust_list, locks, locks_size);
    return process < 0 ? -errno : (int32_t)process;
}

static void become(int fd, int standard)
{
    if (fd != standard) {
        dup2(fd, standard);
        close(fd);
    }
}

/* Takes what this run is given: its size, or nothing if it is not wanted any more. */
static size_t take(void *block, int descriptors[DESCRIPTORS])
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(DESCRIPTORS * sizeof(int))];
    } passed;
    struct iovec bytes = {.iov_base = block, .iov_len = POINTERS_OFFSET};
    struct msghdr message = {
        .msg_iov = &bytes,
        .msg_iovlen = 1,
        .msg_control = &passed,
        .msg_controllen = sizeof passed,
    };
    ssize_t size;
    do
        size = recvmsg(RUNS, &message, 0);
    while (size < 0 && errno == EINTR);
    if (size < (ssize_t)sizeof(struct run) || message.msg_controllen < sizeof passed.header
        || passed.header.cmsg_len != CMSG_LEN(DESCRIPTORS * sizeof(int)))
        return 0;
    memcpy(descriptors, CMSG_DATA(&passed.header), DESCRIPTORS * sizeof(int));
    return (size_t)size;
}

static void become_run(char *block, int *count, char ***arguments, char **variables)
{
    int descriptors[DESCRIPTORS];
    if (__nm_forks_wait != NULL)
        __nm_forks_wait();
    size_t size = take(block, descriptors);
    if (size == 0)
        _exit(0);
    for (int i = 0; i < DESCRIPTORS; i++)
        become(descriptors[i], i);
    close(CONTROL);
    close(RUNS);
    setsid();
    const struct run *run = (const struct run *)block;
    char **pointers = (char **)(block + POINTERS_OFFSET), *text = block + sizeof *run;
    size_t given = run->arguments, used = 0;
    for (; used < given && text < block + size; text += strlen(text) + 1)
        pointers[used++] = text;
    pointers[used] = NULL;
    *count = (int)used;
    *arguments = pointers;
    if (__nm_set_apart != NULL)
        __nm_set_apart(pointers);
    /* Old programs find their environment behind their arguments. */
    for (char **to = pointers + used + 1; variables != NULL && *variables != NULL; variables++) {
        *to++ = *variables;
        *to = NULL;
        if ((char *)(to + 2) > block + BLOCK_SIZE)
            break;
    }
    if (__nm_forks_begin != NULL)
        __nm_forks_begin(*count, *arguments, run->stdin_size);
    /* As every program finds it. */
    errno = 0;
}

/* Comes back in every run. */
static void serve(int *count, char ***arguments, char **variables)
{
    bool is_known = prctl(PR_GET_TID_ADDRESS, &thread_number) == 0 && thread_number != NULL
        && syscall(SYS_get_robust_list, 0, &locks, &locks_size) == 0;
    int access = PROT_READ | PROT_WRITE, kind = MAP_PRIVATE | MAP_ANONYMOUS;
    void *block = mmap(NULL, BLOCK_SIZE, access, kind, -1, 0);
    if (!is_known || block == MAP_FAILED)
        _exit(1);
    if (__nm_forks_keep != NULL)
        __nm_forks_keep();
    if (!say(0))
        _exit(1);
    for (;;) {
        if (!is_ordered())
            _exit(0);
        int32_t process = fork_sibling();
        if (process == 0)
            break;
        say(process);
    }
    become_run(block, count, arguments, variables);
}

/* Whether a variable is set. Not by `getenv`: a program may have one of its own, which is not called before `main`. */
static bool is_set(char **variables, const char *name)
{
    size_t size = strlen(name);
    for (; variables != NULL && *variables != NULL; variables++)
        if (strncmp(*variables, name, size) == 0 && (*variables)[size] == '=')
            return true;
    return false;
}

static bool is_asked(char **variables)
{
    int kind = 0;
    socklen_t size = sizeof kind;
    if (!is_set(variables, "NEARMISS_FORKS") || getauxval(AT_SECURE) != 0)
        return false;
    unsetenv("NEARMISS_FORKS");
    return getsockopt(CONTROL, SOL_SOCKET, SO_TYPE, &kind, &size) == 0 && kind == SOCK_SEQPACKET;
}

/* The program is to be forked, but not yet: where a call begins (`calls.c`). */
static bool waits_for_call;

/* A program may call its own `main`. */
int __wrap_main(int count, char **arguments, char **variables)
{
    static bool was_entered;
    if (!was_entered) {
        was_entered = true;
        bool asked = is_asked(variables);
        waits_for_call = asked && is_set(variables, "NEARMISS_CALLS");
        if (asked && !waits_for_call)
            serve(&count, &arguments, variables);
        else if (__nm_restart_wanted != NULL && __nm_restart_wanted())
            __attribute__((musttail)) return __nm_restart(count, arguments, variables);
    }
    if (__nm_call_tests != NULL && __nm_call_tests())
        return 0;
    __attribute__((musttail)) return __real_main(count, arguments, variables);
}

/* Whether this is a run of its own from here on. */
bool __nm_serve_here(void)
{
    int count;
    char **arguments;
    if (!waits_for_call)
        return false;
    waits_for_call = false;
    /* Not `environ`: a program that names it is taken for one that looks at all variables. */
    serve(&count, &arguments, NULL);
    return true;
}
