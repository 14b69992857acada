/* How often the sanitizer twin makes a block of its heap larger: with `--grow`, what fills such a block to its last
 * byte is worth a look (`engine::growth::trial`).
 *
 * NEARMISS_BLOCKS names a file that holds the number (`abi::environment`). It is mapped before `main`, so that the runs of a
 * fork server share it. The twin is linked with `--wrap` for these functions; without the variable nothing is counted.
 *
 * Compiled without debug information, so that reports name the program's own line.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern int __sanitizer_get_ownership(const volatile void *block);
extern size_t __sanitizer_get_allocated_size(const volatile void *block);
extern void *__real_realloc(void *block, size_t size);
extern void *__real_reallocarray(void *block, size_t count, size_t size);

static uint64_t uncounted;
static uint64_t *enlarged = &uncounted;

#ifdef __GLIBC__
/* Not by `getenv`: a program may have one of its own, which is not called before `main`. */
__attribute__((constructor(101))) static void map_count(int count, char **arguments, char **variables)
{
    static const char name[] = "NEARMISS_BLOCKS=";
    (void)count, (void)arguments;
    for (; variables != NULL && *variables != NULL; variables++) {
        if (strncmp(*variables, name, sizeof name - 1) != 0)
            continue;
        int fd = open(*variables + sizeof name - 1, O_RDWR | O_CLOEXEC);
        if (fd < 0)
            return;
        void *shared = mmap(NULL, sizeof *enlarged, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        close(fd);
        if (shared != MAP_FAILED)
            enlarged = shared;
        return;
    }
}
#endif

/* A block of another allocator, or none, has a size that is not known here. */
static void count_if_larger(void *block, size_t size)
{
    if (block != NULL && __sanitizer_get_ownership(block) && size > __sanitizer_get_allocated_size(block))
        ++*enlarged;
}

/* Weak: the memory twin has functions of its own for these (`unwritten.c`). */
__attribute__((weak)) void *__wrap_realloc(void *block, size_t size)
{
    count_if_larger(block, size);
    return __real_realloc(block, size);
}

__attribute__((weak)) void *__wrap_reallocarray(void *block, size_t count, size_t size)
{
    size_t all;
    count_if_larger(block, __builtin_mul_overflow(count, size, &all) ? 0 : all);
    return __real_reallocarray(block, count, size);
}
