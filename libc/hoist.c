/* Calls of the function whose precondition is to be found, for the sanitizer twin of a program of unit tests (`rt::hoist` has
 * these functions for programs that record): one call is given other inputs, and the process ends where it returns. So a
 * requirement is seen to be true: what violates it fails, what keeps to it does not.
 *
 * NEARMISS_HOIST is `NUMBER:CALL`: the function, and which of its calls. NEARMISS_REPLAY names a file with inputs, in rows of
 * `u32 name size, u32 index, u32 content size, name, content`. What lies behind a pointer is moved into a block of its own
 * if there is a row with its bounds, with as many elements before it as a row says; `was bounds(p)` is how many there were
 * behind it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Only the twin has them. */
extern const char *__asan_locate_address(void *address, char *name, size_t name_size, void **start, size_t *size)
    __attribute__((weak));
extern void __asan_poison_memory_region(void const volatile *start, size_t size) __attribute__((weak));

/* What `hoist::trial` looks for. */
#define SAY(text) (void)!write(2, text, sizeof text - 1)
/* The largest block that is moved. */
#define MOST_BYTES (1ul << 26)

struct row {
    uint32_t name_size, index, content_size;
};

static bool is_started, is_on, is_given;
static unsigned long wanted, chosen, calls;
static const unsigned char *rows;
static size_t rows_size;
/* The call that is under way. */
static const char *outer;
static void **outer_places;

/* The program may have a getenv of its own. */
static const char *variable(const char *name)
{
    size_t size = strlen(name);
    for (char **at = environ; at != NULL && *at != NULL; at++)
        if (strncmp(*at, name, size) == 0 && (*at)[size] == '=')
            return *at + size + 1;
    return NULL;
}

static void start(void)
{
    const char *which = variable("NEARMISS_HOIST"), *path = variable("NEARMISS_REPLAY");
    is_started = true;
    char *end = NULL;
    if (which == NULL)
        return;
    wanted = strtoul(which, &end, 10);
    if (*end != ':')
        return;
    chosen = strtoul(end + 1, NULL, 10);
    is_on = true;
    int file = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    struct stat status;
    if (file < 0)
        return;
    if (fstat(file, &status) == 0 && status.st_size > 0) {
        void *mapped = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (mapped != MAP_FAILED) {
            rows = mapped;
            rows_size = (size_t)status.st_size;
        }
    }
    close(file);
}

static const unsigned char *find(const char *name, size_t *size)
{
    size_t at = 0, length = strlen(name);
    struct row row;
    while (at + sizeof row <= rows_size) {
        memcpy(&row, rows + at, sizeof row);
        const unsigned char *text = rows + at + sizeof row;
        at += sizeof row + row.name_size + row.content_size;
        if (at <= rows_size && row.name_size == length && memcmp(text, name, length) == 0) {
            *size = row.content_size;
            return text + length;
        }
    }
    return NULL;
}

int __nm_hoist_wanted(void **places, unsigned number)
{
    if (!is_started)
        start();
    if (!is_on || number != wanted)
        return 0;
    /* The places may lie elsewhere than on the stack: AddressSanitizer moves them. */
    const char *frame = __builtin_frame_address(0);
    if (outer != NULL && frame < outer)
        return 0;
    outer = frame;
    outer_places = places;
    if (calls++ != chosen)
        return 0;
    is_given = true;
    return 1;
}

void __nm_hoist_begin(void)
{
    SAY("nearmiss: the call begins\n");
}

void __nm_hoist_leave(void **places)
{
    if (places != outer_places || outer == NULL)
        return;
    outer = NULL;
    if (is_given) {
        SAY("nearmiss: the call returns\n");
        _exit(0);
    }
}

void __nm_hoist_input(void *memory, unsigned long size, const char *name)
{
    size_t given = 0;
    const unsigned char *content = find(name, &given);
    if (content != NULL)
        memcpy(memory, content, given < size ? given : size);
}

/* The number that a row gives; false if there is none. */
static bool count_of(const char *name, uint32_t *count)
{
    size_t size = 0;
    const unsigned char *given = find(name, &size);
    if (given == NULL || size != sizeof *count)
        return false;
    memcpy(count, given, sizeof *count);
    return true;
}

/* The bytes from a pointer on that the recording saw: AddressSanitizer does not know every constant. */
static size_t recorded(const char *bounds, size_t element)
{
    char name[1024] = "was ";
    uint32_t count = 0;
    strncat(name, bounds, sizeof name - sizeof "was ");
    return count_of(name, &count) ? count * element : 0;
}

/* The object in which a pointer lies: its bytes before the pointer, and from there on. */
struct object {
    size_t before, rest;
};

static struct object around(const char *pointer, size_t known)
{
    char name[2];
    void *start = NULL;
    size_t size = 0;
    struct object object = {0, known};
    if (pointer == NULL)
        return (struct object){0, 0};
    if (__asan_locate_address != NULL)
        __asan_locate_address((void *)pointer, name, sizeof name, &start, &size);
    if (start != NULL && size != 0 && pointer >= (char *)start && pointer <= (char *)start + size) {
        object.before = (size_t)(pointer - (char *)start);
        object.rest = size - object.before;
    }
    return object;
}

/* A block with so many bytes before and from a pointer on, the pointer into it: what was there, and zeros. */
static char *moved(const char *pointer, struct object old, struct object wanted)
{
    size_t all = wanted.before + wanted.rest;
    if (wanted.before > MOST_BYTES || wanted.rest > MOST_BYTES || all > MOST_BYTES)
        return NULL;
    char *block = calloc(1, all > 0 ? all : 8);
    if (block == NULL)
        return NULL;
    char *now = block + wanted.before;
    size_t before = old.before < wanted.before ? old.before : wanted.before;
    size_t rest = old.rest < wanted.rest ? old.rest : wanted.rest;
    if (pointer != NULL)
        memcpy(now - before, pointer - before, before + rest);
    /* A block of no bytes has one. */
    if (all == 0 && __asan_poison_memory_region != NULL)
        __asan_poison_memory_region(block, 8);
    return now;
}

unsigned long __nm_hoist_pointer(void **at, unsigned element, const char *null, const char *bounds, const char *before,
                                 char **now)
{
    size_t size = 0, one = element > 0 ? element : 1;
    uint32_t count = 0, ahead = 0;
    const unsigned char *is_null = find(null, &size);
    if (is_null != NULL && size == 1 && *is_null == 1) {
        *at = *now = NULL;
        return 0;
    }
    if (!count_of(bounds, &count))
        return around(*at, 0).rest / one;
    struct object old = around(*at, recorded(bounds, one)), wanted = old;
    wanted.rest = count * one;
    if (count_of(before, &ahead))
        wanted.before = ahead * one + old.before % one;
    char *block = moved(*at, old, wanted);
    if (block == NULL) {
        SAY("nearmiss: the call cannot be made\n");
        _exit(0);
    }
    *at = *now = block;
    return count;
}
