/* Many runs in one process: memory is put back to what it was before the run instead of being thrown away
 * with a forked child, which costs ten times as much.
 *
 * Everything that the process could write is made read-only before the first run. The first write to a page
 * faults; the handler keeps a copy of the page and lets the write happen. Behind a run the copies are put
 * back, so whatever was written is as it was, wherever it lies: variables of the program and its
 * libraries, heap, stack, the runtime's tables, a sanitizer's shadow. Pages stay writable, so that later runs fault
 * where none did before.
 *
 * What is no memory of the process is not put back. The engine asks for this only where a program
 * calls nothing that would matter (`paths::build`). A run that ends its process (a signal, `exit`, its time) is answered
 * by the server, which forks another one; one that ends in the middle of `main` (a sanitizer's report, an assumption
 * that does not hold) leaves by `__nm_restart_leave`. A process that has no room for more pages ends without an answer,
 * and the server has the same run made by a fresh child. What a run mapped is unmapped behind it; a process that has lost
 * a mapping ends.
 *
 * Between two runs nothing here calls a function of the C library: in twins a sanitizer stands behind their names, and
 * `errno` is memory of the program.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "restart.h"

#define PAGE 4096u
#define MOST_PAGES 2048u
#define MOST_REGIONS 1024u
#define MAPS_SIZE (256u << 10)
/* How far the stack may grow while its pages are still kept, and how far it is grown beforehand. */
#define STACK_ROOM (8u << 20)
#define STACK_READY (256u << 10)
/* Pages of it that are kept beforehand. */
#define STACK_KEPT 4
/* What a function may have below its stack pointer. */
#define RED_ZONE 128

struct region {
    uintptr_t start, end;
};

/* What is to be done at a signal, as the kernel has it. */
struct kernel_action {
    void *handler;
    unsigned long flags;
    void *restorer;
    uint64_t mask;
};

/* Shared memory, so that it is no region itself. */
struct store {
    size_t regions, pages, mapped_count;
    struct region region[MOST_REGIONS];
    /* Everything that is mapped, in ascending order, and where the heap ends. */
    struct region mapped[MOST_REGIONS];
    long program_break;
    uintptr_t page[MOST_PAGES];
    unsigned char content[MOST_PAGES][PAGE];
    unsigned char signal_stack[64u << 10];
    char maps[MAPS_SIZE];
    /* A descriptor of /proc/self/statm, and what it said. */
    int sizes;
    uint64_t size;
    /* What `main` is given. Not on the stack, which the program may have written to in any place. */
    int count;
    char **arguments, **variables;
    /* The run under way: whether there is one, how it ended, whether it has written to standard error. */
    bool is_running, has_complained;
    int status;
    /* The frame of the loop, and where its stack begins. */
    void *loop[5];
    uintptr_t top;
    /* What stood where the fault handler and its stack stand now. */
    struct kernel_action handler_before;
    stack_t stack_before;
};

static struct store *store;

/* Only sanitized programs have it. */
extern void __asan_init(void) __attribute__((weak));

static long call(long number, long a, long b, long c, long d, long e, long f)
{
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

/* Uses no stack. */
static inline __attribute__((always_inline)) void copy(void *to, const void *from, size_t size)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
}

static _Noreturn void retire(void)
{
    for (;;)
        call(SYS_exit_group, RETIRED, 0, 0, 0, 0, 0);
}

static bool is_watched(uintptr_t page)
{
    for (size_t i = 0; i < store->regions; i++)
        if (store->region[i].start <= page && page < store->region[i].end)
            return true;
    return false;
}

/* Keeps a page as it is, and lets it be written from now on. */
static bool keep(uintptr_t page)
{
    if (store->pages == MOST_PAGES)
        return false;
    copy(store->content[store->pages], (const void *)page, PAGE);
    store->page[store->pages++] = page;
    return call(SYS_mprotect, (long)page, PAGE, PROT_READ | PROT_WRITE, 0, 0, 0) == 0;
}

/* Lets the instruction fault once more, as if there were no handler but the program's, or a sanitizer's. */
static void hand_back(ucontext_t *context)
{
    struct kernel_action *before = &store->handler_before;
    if (call(SYS_rt_sigaction, SIGSEGV, (long)before, 0, sizeof before->mask, 0, 0) != 0)
        retire();
    /* The kernel takes it from here when the handler comes back. */
    context->uc_stack = store->stack_before;
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    uintptr_t page = (uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1);
    (void)signal;
    bool is_ours = info->si_code == SEGV_ACCERR && is_watched(page);
    if (!is_ours && store->is_running)
        hand_back(context);
    else if (!is_ours || !keep(page))
        retire();
}

/* Reads a whole file of the kernel; its size. */
static size_t read_file(const char *name, char *text, size_t room)
{
    size_t used = 0;
    long fd = call(SYS_openat, AT_FDCWD, (long)name, O_RDONLY | O_CLOEXEC, 0, 0, 0), size = 1;
    if (fd < 0)
        return 0;
    for (; size > 0 && used < room; used += size > 0 ? (size_t)size : 0)
        size = call(SYS_read, fd, (long)(text + used), (long)(room - used), 0, 0, 0);
    call(SYS_close, fd, 0, 0, 0, 0, 0);
    return size == 0 ? used : 0;
}

static const char *read_number(const char *text, unsigned base, uint64_t *number)
{
    for (*number = 0;; text++) {
        unsigned digit = *text >= 'a' ? (unsigned)(*text - 'a') + 10 : (unsigned)(*text - '0');
        if (digit >= base)
            return text;
        *number = *number * base + digit;
    }
}

/* How large the process's memory is, in pages: another number says that something was mapped or given back. */
static uint64_t size_of_memory(void)
{
    char text[64] = {0};
    uint64_t pages;
    call(SYS_pread64, store->sizes, (long)text, sizeof text - 1, 0, 0, 0);
    read_number(text, 10, &pages);
    return pages;
}

/* The range of a line of the kernel's list, and what follows it. */
static const char *read_range(const char *line, struct region *range)
{
    uint64_t start, end;
    line = read_number(line, 16, &start);
    line = read_number(line + 1, 16, &end);
    *range = (struct region){start, end};
    return line;
}

static bool add_mapped(struct region range)
{
    struct region *last = &store->mapped[store->mapped_count - 1];
    if (store->mapped_count > 0 && last->end == range.start)
        last->end = range.end;
    else if (store->mapped_count < MOST_REGIONS)
        store->mapped[store->mapped_count++] = range;
    else
        return false;
    return true;
}

/* What is mapped, and of that what a run may change: private memory that can be written. */
static bool find_regions(uintptr_t stack)
{
    size_t size = read_file("/proc/self/maps", store->maps, MAPS_SIZE - 1);
    const char *end = store->maps + size;
    for (const char *line = store->maps; line < end; line++) {
        struct region range;
        line = read_range(line, &range);
        uintptr_t start = range.start, stop = range.end;
        if (!add_mapped(range))
            return false;
        bool is_private = line[2] == 'w' && line[4] == 'p';
        /* Code that is written as it runs is no small function. */
        if ((is_private && line[3] == 'x') || store->regions == MOST_REGIONS)
            return false;
        if (is_private)
            store->region[store->regions++] = range;
        while (line < end && *line != '\n')
            line++;
        if (is_private && start <= stack && stack < stop && start > STACK_ROOM)
            store->region[store->regions - 1].start = start - STACK_ROOM;
    }
    return size != 0;
}

static void unmap(uintptr_t start, uintptr_t end)
{
    if (start < end)
        call(SYS_munmap, (long)start, (long)(end - start), 0, 0, 0, 0);
}

/* Gives back what was mapped since the beginning; whether everything is as it was then. */
static bool put_mappings_back(void)
{
    call(SYS_brk, store->program_break, 0, 0, 0, 0, 0);
    if (size_of_memory() == store->size)
        return true;
    size_t size = read_file("/proc/self/maps", store->maps, MAPS_SIZE - 1), known = 0;
    const char *end = store->maps + size;
    for (const char *line = store->maps; line < end; line++) {
        struct region range;
        line = read_range(line, &range);
        while (range.start < range.end) {
            while (known < store->mapped_count && store->mapped[known].end <= range.start)
                known++;
            struct region next = known < store->mapped_count ? store->mapped[known] : (struct region){range.end, range.end};
            unmap(range.start, next.start < range.end ? next.start : range.end);
            range.start = next.start < range.end ? next.end : range.end;
        }
        while (line < end && *line != '\n')
            line++;
    }
    return size_of_memory() == store->size;
}

static bool catch_faults(void)
{
    stack_t stack = {.ss_sp = store->signal_stack, .ss_size = sizeof store->signal_stack};
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    struct kernel_action *before = &store->handler_before;
    return call(SYS_rt_sigaction, SIGSEGV, 0, (long)before, sizeof before->mask, 0, 0) == 0
        && sigaltstack(&stack, &store->stack_before) == 0 && sigaction(SIGSEGV, &action, NULL) == 0;
}

static void protect(uintptr_t start, uintptr_t end)
{
    if (start < end && call(SYS_mprotect, (long)start, (long)(end - start), PROT_READ, 0, 0, 0) != 0)
        retire();
}

/* All but these pages, which are kept already. */
static void protect_around(struct region open, uintptr_t stack)
{
    for (size_t i = 0; i < store->regions; i++) {
        uintptr_t start = store->region[i].start, end = store->region[i].end;
        if (start <= stack && stack < end)
            start += STACK_ROOM;
        protect(start, open.start < end ? open.start : end);
        protect(open.end > start ? open.end : start, end);
    }
}

/* From here on every page is kept before it is written. */
static bool begin(void)
{
    uintptr_t stack = (uintptr_t)__builtin_frame_address(0);
    (void)*(volatile char *)(stack - STACK_READY);
    long made = call(SYS_mmap, 0, sizeof *store, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (made < 0 && made > -(long)PAGE)
        return false;
    store = (struct store *)made;
    store->sizes = (int)call(SYS_openat, AT_FDCWD, (long)"/proc/self/statm", O_RDONLY | O_CLOEXEC, 0, 0, 0);
    if (store->sizes < 0 || !find_regions(stack) || !catch_faults())
        return false;
    /* The kernel itself writes beside the thread's own variables, and takes no fault there. */
    uintptr_t thread = (uintptr_t)__builtin_thread_pointer() & ~(uintptr_t)(PAGE - 1);
    struct region open = {thread - PAGE, thread + 2 * PAGE};
    for (uintptr_t page = open.start; page < open.end; page += PAGE)
        if (is_watched(page) && !keep(page))
            return false;
    store->size = size_of_memory();
    store->program_break = call(SYS_brk, 0, 0, 0, 0, 0, 0);
    store->is_running = true;
    protect_around(open, stack);
    /* Nor where it writes what the run asks it for, which is on the stack. */
    for (size_t i = 1; i <= STACK_KEPT; i++)
        *(volatile char *)(stack - i * PAGE) = *(volatile char *)(stack - i * PAGE);
    return true;
}

/* Puts everything back but what lies on the stack from here to `top`: the frames of this loop. */
static __attribute__((noinline)) void put_back(uintptr_t top)
{
    uintptr_t here;
    __asm__ volatile("mov %%rsp, %0" : "=r"(here));
    here -= RED_ZONE;
    for (size_t i = 0; i < store->pages; i++) {
        uintptr_t start = store->page[i], end = start + PAGE;
        const unsigned char *content = store->content[i];
        if (end <= here || start >= top) {
            copy((void *)start, content, PAGE);
            continue;
        }
        if (start < here)
            copy((void *)start, content, here - start);
        if (top < end) {
            uintptr_t from = top > start ? top : start;
            copy((void *)from, content + (from - start), end - from);
        }
    }
}

static bool has_complained(void)
{
    /* Written before the kernel does: it takes no fault. */
    struct stat status = {0};
    return call(SYS_fstat, 2, (long)&status, 0, 0, 0, 0) == 0 && S_ISREG(status.st_mode) && status.st_size != 0;
}

/* A run is over: answers, puts everything back and waits for the next one. */
static __attribute__((noinline)) void go_on(void)
{
    store->is_running = false;
    store->has_complained = has_complained();
    __nm_restart_answer(store->status);
    if (size_of_memory() != store->size && !put_mappings_back())
        retire();
    put_back(store->top);
    __nm_restart_wait();
    /* Not before: the engine reads it. */
    if (store->has_complained)
        call(SYS_ftruncate, 2, 0, 0, 0, 0, 0);
    store->is_running = true;
}

static bool is_in_handler(void)
{
    const uint64_t signals = 1ull << (SIGSEGV - 1) | 1ull << (SIGABRT - 1) | 1ull << (SIGBUS - 1)
        | 1ull << (SIGFPE - 1) | 1ull << (SIGILL - 1) | 1ull << (SIGTRAP - 1);
    uint64_t blocked = signals;
    stack_t stack = {.ss_flags = SS_ONSTACK};
    call(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&blocked, sizeof blocked, 0, 0);
    call(SYS_sigaltstack, 0, (long)&stack, 0, 0, 0, 0);
    return (blocked & signals) != 0 || (stack.ss_flags & SS_ONSTACK) != 0;
}

void __nm_restart_leave(int status)
{
    if (store == NULL || !store->is_running || is_in_handler())
        return;
    store->status = status;
    __builtin_longjmp(store->loop, 1);
}

__attribute__((noinline)) int __nm_restart(int count, char **arguments, char **variables)
{
    uintptr_t top = (uintptr_t)__builtin_frame_address(0) + 2 * sizeof(void *);
    /* The heap is there before the first run: no run has to map it. AddressSanitizer's is there already; it keeps what is
     * freed, and a run would get other addresses. */
    if (__asan_init == NULL)
        free(malloc(1));
    if (!__nm_restart_many() || !begin()) {
        int status = __real_main(count, arguments, variables);
        /* Not in the place of this call. */
        __asm__ volatile("" : "+r"(status));
        return status;
    }
    store->top = top;
    store->count = count;
    store->arguments = arguments;
    store->variables = variables;
    for (;;) {
        if (__builtin_setjmp(store->loop) == 0) {
            store->status = __real_main(store->count, store->arguments, store->variables);
            __nm_restart_ended(store->status);
        }
        go_on();
    }
}
