/* What the checks of contracts call, for the sanitizer twin (`rt::contracts` has them for programs that record). A
 * requirement that does not hold is said in the words of UBSan, so that it is read with all else that goes wrong.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

/* Only the twin has them. */
extern const char *__asan_locate_address(void *address, char *name, size_t name_size, void **start, size_t *size)
    __attribute__((weak));
extern void *__asan_region_is_poisoned(void *start, size_t size) __attribute__((weak));

/* Elements behind a pointer of which nothing is known: enough for every requirement. */
#define UNKNOWN (1LL << 40)

int __nm_contracts_wanted(void)
{
    return 1;
}

static bool is_mapped(const void *memory)
{
    char byte;
    struct iovec there = {(void *)memory, 1}, here = {&byte, 1};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1;
}

int __nm_readable(const void *memory, unsigned long size)
{
    const char *last = (const char *)memory + (size ? size - 1 : 0);
    if ((uintptr_t)memory < 4096 || !is_mapped(memory) || !is_mapped(last))
        return 0;
    return __asan_region_is_poisoned == NULL || __asan_region_is_poisoned((void *)memory, size) == NULL;
}

/* The object that a pointer leads to, or behind the end of which it points. */
static bool find(const void *pointer, char **start, size_t *size)
{
    char name[2];
    void *found = NULL;
    if (__asan_locate_address == NULL)
        return false;
    __asan_locate_address((void *)pointer, name, sizeof name, &found, size);
    *start = found;
    return found != NULL && *size > 0;
}

long long __nm_bounds(const void *pointer, unsigned long element)
{
    char *start;
    size_t size;
    if ((uintptr_t)pointer < 4096)
        return 0;
    if (!find(pointer, &start, &size))
        return UNKNOWN;
    /* What is freed has no elements; what lies in a red zone is behind its object. */
    if ((const char *)pointer < start || (const char *)pointer >= start + size
        || __asan_region_is_poisoned((void *)pointer, 1) != NULL)
        return 0;
    return (long long)((size_t)(start + size - (const char *)pointer) / (element ? element : 1));
}

long long __nm_before(const void *pointer, unsigned long element)
{
    char *start;
    size_t size;
    if ((uintptr_t)pointer < 4096 || !find(pointer, &start, &size) || (const char *)pointer < start)
        return 0;
    return (long long)((size_t)((const char *)pointer - start) / (element ? element : 1));
}

long long __nm_open_end(const void *start, unsigned long length)
{
    (void)start, (void)length;
    return -1;
}

long long __nm_plain_end(const void *start, unsigned long byte, unsigned long most)
{
    const char *at = start;
    for (unsigned long i = 0; i < most; i++)
        if (at[i] == (char)byte)
            return (long long)i;
    return (long long)most;
}

/* What a unit test's own call promises is no requirement (`__nm_call_is_boundary`). */
void __nm_precondition(int holds, const char *place, const char *text, int is_assumed)
{
    if (!holds && !is_assumed)
        fprintf(stderr, "%s: runtime error: precondition of %s\n", place, text);
}
