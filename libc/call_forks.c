/* Test code that runs each test in a child of its own.
 *
 * Calls and forks are counted over all processes of the program, in memory that they share. Only one process records: so in a
 * run on calls of a child the program does not fork there but becomes that child, and all other children are made as ever.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calls.h"

/* Descriptors that a child may have to its parent. */
#define MOST_DESCRIPTORS 64

/* In programs that record. */
extern int __nm_model_fork(void) __attribute__((weak));
/* In twins. */
extern void __sanitizer_set_report_fd(void *fd) __attribute__((weak));

struct call_counts *__nm_calls_counts;
/* `FORK.FORK…`: the forks that led to this process, and those that lead to the chosen calls. */
static char chain[128], wanted[128];

/* From here on this process and its children count by themselves: others that were forked before do not count with them. */
void __nm_children_count_apart(void)
{
    static struct call_counts own;
    struct call_counts now = __nm_calls_counts != NULL ? *__nm_calls_counts : own;
    void *page = mmap(NULL, sizeof now, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    __nm_calls_counts = page != MAP_FAILED ? page : &own;
    *__nm_calls_counts = now;
}

void __nm_children_wanted(const char *words)
{
    snprintf(wanted, sizeof wanted, "%.*s", (int)strcspn(words, "/:"), words);
}

const char *__nm_children_chain(void)
{
    return chain;
}

/* This process is a child by a fork with this number. */
static void descend(long number)
{
    size_t used = strlen(chain);
    snprintf(chain + used, sizeof chain - used, "%s%ld", used == 0 ? "" : ".", number);
}

/* Whether a child by this fork leads to the chosen calls. */
static bool is_wanted(long number)
{
    char next[sizeof chain + 24];
    int size = snprintf(next, sizeof next, "%s%s%ld", chain, *chain == 0 ? "" : ".", number);
    return strncmp(wanted, next, (size_t)size) == 0 && (wanted[size] == 0 || wanted[size] == '.');
}

/* What the child closes its parent still has. */
static void keep_pipes(void)
{
    struct stat status;
    for (int fd = 3; fd < MOST_DESCRIPTORS; fd++)
        if (fstat(fd, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)))
            fcntl(fd, F_DUPFD_CLOEXEC, 2 * MOST_DESCRIPTORS);
}

void __nm_children_report_to(int fd)
{
    if (__sanitizer_set_report_fd != NULL && fd >= 0)
        __sanitizer_set_report_fd((void *)(intptr_t)fd);
}

/* Stands where test code forks. */
int __nm_call_fork(void)
{
    if (__nm_calls_state == UNKNOWN)
        __nm_calls_start();
    bool counts = __nm_calls_state != OFF;
    long number = counts ? __atomic_add_fetch(&__nm_calls_counts->forks, 1, __ATOMIC_SEQ_CST) : 0;
    if (__nm_calls_state == GIVING && is_wanted(number)) {
        keep_pipes();
        /* A child's standard error may go elsewhere, and that of its children with it. */
        if (*chain == 0)
            __nm_children_report_to(fcntl(2, F_DUPFD_CLOEXEC, 2 * MOST_DESCRIPTORS));
        descend(number);
        return 0;
    }
    int child = __nm_model_fork != NULL ? __nm_model_fork() : fork();
    if (child == 0 && counts) {
        descend(number);
        if (__nm_calls_state == GIVING)
            __nm_calls_state = COUNTING;
    }
    return child;
}
