/* The words of other tools' harnesses, on top of `nearmiss_symbolic`.
 *
 * Twice compiled: with instrumentation for programs that are recorded, so that an assumption is a
 * branch of the path like any other, and plainly for the sanitizer twin, together with
 * replay.c. A program that defines one of these functions itself keeps its own: they are weak.
 */
#define _GNU_SOURCE
#include <nearmiss.h>
#include <klee/klee.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WEAK __attribute__((weak))

WEAK void nearmiss_assume(bool condition)
{
    /* The runtime has its own. Nothing that runs at exit may be taken for the program's own failure. */
    if (!condition)
        _exit(0);
}

/* KLEE */

WEAK void klee_make_symbolic(void *start, size_t size, const char *name)
{
    memset(start, 0, size);
    nearmiss_symbolic(start, size, name);
}

WEAK void klee_assume(uintptr_t condition)
{
    nearmiss_assume(condition != 0);
}

WEAK int klee_int(const char *name)
{
    int value = 0;
    nearmiss_symbolic(&value, sizeof value, name);
    return value;
}

WEAK int klee_range(int begin, int end, const char *name)
{
    if (begin >= end)
        klee_report_error(__FILE__, __LINE__, "klee_range: begin is not below end", "user");
    int value = begin;
    nearmiss_symbolic(&value, sizeof value, name);
    nearmiss_assume((begin <= value) & (value < end));
    return value;
}

WEAK uintptr_t klee_choose(uintptr_t n)
{
    uintptr_t value = 0;
    nearmiss_symbolic(&value, sizeof value, "klee_choose");
    nearmiss_assume(value < n);
    return value;
}

/* A preference narrows nothing: nearmiss prefers the recorded input. */
WEAK void klee_prefer_cex(void *object, uintptr_t condition)
{
    (void)object;
    (void)condition;
}

WEAK void klee_posix_prefer_cex(void *object, uintptr_t condition)
{
    (void)object;
    (void)condition;
}

/* What only the runtime knows; where it does not record, it answers as it did when it did. */
extern uint64_t __nm_is_symbolic(uint64_t value);
extern uint64_t __nm_object_size(uint64_t address);
/* Leaves a note: what stands for an input here is none. */
extern void __nm_unmodelled(void);

WEAK unsigned klee_is_symbolic(uintptr_t value)
{
    return (unsigned)__nm_is_symbolic(value);
}

WEAK unsigned klee_is_replay(void)
{
    return 0;
}

WEAK void klee_abort(void)
{
    abort();
}

/* assert.h declares it only without NDEBUG. */
extern void __assert_fail(const char *assertion, const char *file, unsigned line,
                          const char *function) __attribute__((noreturn));

/* What `klee_assert` of KLEE's own header calls. */
WEAK void klee_assert_fail(const char *assertion, const char *file, unsigned line,
                           const char *function)
{
    __assert_fail(assertion, file, line, function);
}

WEAK void klee_silent_exit(int status)
{
    _exit(status);
}

WEAK void klee_report_error(const char *file, int line, const char *message, const char *suffix)
{
    fprintf(stderr, "%s:%d: %s [%s]\n", file, line, message, suffix);
    abort();
}

WEAK void klee_warning(const char *message)
{
    fprintf(stderr, "%s\n", message);
}

WEAK void klee_warning_once(const char *message)
{
    klee_warning(message);
}

WEAK void klee_print_expr(const char *message, ...)
{
    (void)message;
}

WEAK void klee_print_range(const char *name, int value)
{
    (void)name;
    (void)value;
}

WEAK void klee_open_merge(void) {}
WEAK void klee_close_merge(void) {}
WEAK void klee_stack_trace(void) {}

WEAK void klee_mark_global(void *object)
{
    (void)object;
}

WEAK void klee_check_memory_access(const void *address, size_t size)
{
    /* Touching each end is the access that was asked about. */
    const volatile char *bytes = address;
    if (size > 0) {
        (void)bytes[0];
        (void)bytes[size - 1];
    }
}

/* Memory at a place that the program chooses, by whole pages. */
WEAK void klee_define_fixed_object(void *address, size_t size)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t start = (uintptr_t)address & ~(page - 1);
    uintptr_t end = ((uintptr_t)address + size + page - 1) & ~(page - 1);
    for (; start < end; start += page) {
        /* Two objects may share a page: then it is there. */
        void *got = mmap((void *)start, page, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (got == MAP_FAILED && errno != EEXIST)
            klee_report_error(__FILE__, __LINE__, "klee_define_fixed_object: no memory there", "user");
    }
}

WEAK void klee_set_forking(unsigned enable)
{
    (void)enable;
}

WEAK size_t klee_get_obj_size(void *object)
{
    return __nm_object_size((uintptr_t)object);
}

WEAK int klee_get_errno(void)
{
    return errno;
}

#define KLEE_GET_VALUE(suffix, type)                                                           \
    WEAK type klee_get_value##suffix(type value)                                               \
    {                                                                                          \
        return value;                                                                          \
    }

KLEE_GET_VALUE(f, float)
KLEE_GET_VALUE(d, double)
KLEE_GET_VALUE(l, long)
KLEE_GET_VALUE(ll, long long)
KLEE_GET_VALUE(_i32, int32_t)
KLEE_GET_VALUE(_i64, int64_t)

/* Test-Comp and SV-COMP */

#define NONDET(name, type)                                                                     \
    WEAK type __VERIFIER_nondet_##name(void)                                                   \
    {                                                                                          \
        type value = 0;                                                                        \
        nearmiss_symbolic(&value, sizeof value, #name);                                        \
        return value;                                                                          \
    }

NONDET(char, char)
NONDET(uchar, unsigned char)
NONDET(unsigned_char, unsigned char)
NONDET(short, short)
NONDET(ushort, unsigned short)
NONDET(unsigned_short, unsigned short)
NONDET(int, int)
NONDET(uint, unsigned)
NONDET(unsigned_int, unsigned)
NONDET(unsigned, unsigned)
NONDET(long, long)
NONDET(ulong, unsigned long)
NONDET(unsigned_long, unsigned long)
NONDET(longlong, long long)
NONDET(ulonglong, unsigned long long)
NONDET(int128, __int128)
NONDET(uint128, unsigned __int128)
NONDET(float, float)
NONDET(double, double)
NONDET(size_t, size_t)
NONDET(loff_t, long long)
NONDET(sector_t, unsigned long)
NONDET(pthread_t, unsigned long)
NONDET(ptrdiff_t, ptrdiff_t)
NONDET(time_t, long)
NONDET(wchar_t, wchar_t)
NONDET(u8, uint8_t)
NONDET(u16, uint16_t)
NONDET(u32, uint32_t)
NONDET(u64, uint64_t)
NONDET(S8, int8_t)
NONDET(S16, int16_t)
NONDET(S32, int32_t)
NONDET(S64, int64_t)
NONDET(U8, uint8_t)
NONDET(U16, uint16_t)
NONDET(U32, uint32_t)
NONDET(U64, uint64_t)

/* A bool is one bit of its byte: any other value would not be one. */
static bool nondet_bool(const char *name)
{
    unsigned char value = 0;
    nearmiss_symbolic(&value, sizeof value, name);
    return value & 1;
}

WEAK bool __VERIFIER_nondet_bool(void)
{
    return nondet_bool("bool");
}

WEAK bool __VERIFIER_nondet__Bool(void)
{
    return nondet_bool("_Bool");
}

/* No pointer that a solver invents points to anything. */
static void *no_pointer(void)
{
    __nm_unmodelled();
    return NULL;
}

WEAK void *__VERIFIER_nondet_pointer(void)
{
    return no_pointer();
}

WEAK char *__VERIFIER_nondet_pchar(void)
{
    return no_pointer();
}

WEAK char *__VERIFIER_nondet_charp(void)
{
    return no_pointer();
}

WEAK const char *__VERIFIER_nondet_const_char_pointer(void)
{
    return no_pointer();
}

WEAK void __VERIFIER_nondet_memory(void *start, size_t size)
{
    nearmiss_symbolic(start, size, "memory");
}

WEAK void __VERIFIER_assume(int condition)
{
    nearmiss_assume(condition != 0);
}

WEAK void __VERIFIER_error(void)
{
    abort();
}

WEAK void reach_error(void)
{
    abort();
}

WEAK void __VERIFIER_assert(int condition)
{
    if (!condition)
        reach_error();
}
