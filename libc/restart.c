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
 * calls nothing that would matter (`paths::build`), and a run counts only if it ended as usual: `main` came back,
 * nothing was written to standard error, no fault. Otherwise the process ends without an answer, and the
 * server has the same run made by a fresh child. A process whose mappings changed ends as well, behind its answer.
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

/* Shared memory, so that it is no region itself. */
struct store {
    size_t regions, pages;
    struct region region[MOST_REGIONS];
    uintptr_t page[MOST_PAGES];
    unsigned char content[MOST_PAGES][PAGE];
    unsigned char signal_stack[64u << 10];
    char maps[MAPS_SIZE];
    /* A descriptor of /proc/self/statm, and what it said. */
    int sizes;
    uint64_t size;
};

static struct store *store;

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

/* A fault that is none of ours is the program's own: a fresh child has it too, and may tell of it. */
static void on_fault(int signal, siginfo_t *info, void *context)
{
    uintptr_t page = (uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1);
    (void)signal, (void)context;
    if (info->si_code != SEGV_ACCERR || !is_watched(page) || !keep(page))
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

/* Private memory that can be written: what a run may change. */
static bool find_regions(uintptr_t stack)
{
    size_t size = read_file("/proc/self/maps", store->maps, MAPS_SIZE - 1);
    const char *end = store->maps + size;
    for (const char *line = store->maps; line < end; line++) {
        uint64_t start, stop;
        line = read_number(line, 16, &start);
        line = read_number(line + 1, 16, &stop);
        bool is_private = line[2] == 'w' && line[4] == 'p';
        /* Code that is written as it runs is no small function. */
        if ((is_private && line[3] == 'x') || store->regions == MOST_REGIONS)
            return false;
        if (is_private)
            store->region[store->regions++] = (struct region){start, stop};
        while (line < end && *line != '\n')
            line++;
        if (is_private && start <= stack && stack < stop && start > STACK_ROOM)
            store->region[store->regions - 1].start = start - STACK_ROOM;
    }
    return size != 0;
}

static bool catch_faults(void)
{
    stack_t stack = {.ss_sp = store->signal_stack, .ss_size = sizeof store->signal_stack};
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    return sigaltstack(&stack, NULL) == 0 && sigaction(SIGSEGV, &action, NULL) == 0;
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

__attribute__((noinline)) int __nm_restart(int count, char **arguments, char **variables)
{
    uintptr_t top = (uintptr_t)__builtin_frame_address(0) + 2 * sizeof(void *);
    /* The heap is there before the first run: no run has to map it. */
    free(malloc(1));
    if (!__nm_restart_many() || !begin()) {
        int status = __real_main(count, arguments, variables);
        /* Not in the place of this call. */
        __asm__ volatile("" : "+r"(status));
        return status;
    }
    for (;;) {
        int status = __real_main(count, arguments, variables);
        bool is_changed = size_of_memory() != store->size;
        if (has_complained())
            retire();
        __nm_restart_answer(status);
        if (is_changed)
            retire();
        put_back(top);
        __nm_restart_wait();
    }
}
