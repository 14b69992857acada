/* The boundary between test code and the code under test, in a variant of a program that is built for it
 * (`abi::boundary`): every function that test code may call announces its calls here, in the program as in its
 * twins. Without NEARMISS_CALLS in the environment nothing happens.
 *
 * The data of the chosen calls are inputs: what pointers of the call lead to. A recording names it (`rt::boundary`);
 * an invented input comes from the file that NEARMISS_REPLAY names, in rows of
 * `u32 name size, u32 index, u32 content size, name, content`. The name is `NUMBER:FUNCTION`, the index says which
 * parameter it is and what becomes of it (`abi::boundary::shape`).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calls.h"

#define MOST_PARAMETERS 16
/* Calls that are listed: a program that makes more makes them in loops. */
#define MOST_LISTED 200000
/* Boundary calls behind the chosen ones that are still made: the test goes on, but not for ever. */
#define MOST_LATER 256

/* What a pointer leads to: the object's start and size, and whether it may be written to. Of code without
 * instrumentation only texts are known, each as an object that begins with the pointer. */
struct memory {
    uint64_t start, size, is_writable, is_text;
};

/* A part of an input that lies elsewhere than the rest. */
struct piece {
    uint64_t address, size;
};

/* An input of a call, for the recording. Without pieces it lies where its content is. */
struct input {
    const char *name;
    uint32_t index;
    uint32_t has_length;
    uint64_t address, size;
    uint64_t *tied;
    const struct piece *pieces;
    uint64_t piece_count;
};

/* How an input is given to a call: `abi::boundary::shape` has the bits. */
/* What happens between two calls is the test's own: `abi::event` has the phases. */
#define PHASE_SETUP 0
#define PHASE_FUNCTION 2

#define NO_INPUT UINT32_MAX
#define PARAMETER(index) ((index) & 0xff)
#define MOVES (1u << 8)
#define IS_STRING (1u << 9)
#define ELEMENT(index) ((index) >> 12 & 0xf)
#define TIED(index) ((index) >> 16 & 0x1f)
#define MORE(index) ((index) >> 24 & 1)
#define IS_FIXED (1u << 10)
#define IS_PLAIN (1u << 11)
#define IS_BARE (1u << 21)
/* Of what is fixed: other pointers of the call lead into it, or to its end. */
#define HAS_OTHERS (1u << 25)
#define MOST_LEAST 0x7f
/* The bits of a call's name in its summary, and where the kind of what it returned is. */
#define NAME 0xffu
#define RETURNED(summary) ((unsigned)(summary) >> 24 & 0xff)
/* A name of an input with all numbers of a structure; their numbers. */
#define MOST_NAME 1024
#define MOST_PIECES 128

/* Part of every variant: `main.c` calls it. */
extern bool __nm_call_tests(void);
bool (*const __nm_calls_tests)(void) __attribute__((used)) = __nm_call_tests;

/* In programs that record. */
extern bool __nm_call_memory(const void *pointer, struct memory *memory) __attribute__((weak));
extern void __nm_call_input(const struct input *input) __attribute__((weak));
extern void __nm_call_number(const uint64_t *slot, uint64_t size) __attribute__((weak));
extern void __nm_call_pointer(const uint64_t *slot) __attribute__((weak));
extern void __nm_call_leave(void) __attribute__((weak));
extern void __nm_call_inside(bool is_inside) __attribute__((weak));
extern void __nm_mark(unsigned phase) __attribute__((weak));
/* In address twins. */
extern const char *__asan_get_report_description(void) __attribute__((weak));
extern void *__asan_region_is_poisoned(void *start, size_t size) __attribute__((weak));
extern void __asan_get_shadow_mapping(size_t *scale, size_t *offset) __attribute__((weak));
/* In memory twins. */
extern void __msan_unpoison(const volatile void *start, size_t size) __attribute__((weak));
/* The program is forked where the first of the chosen calls begins (`main.c`). */
extern bool __nm_serve_here(void) __attribute__((weak));

void __nm_call_begin(const struct call *call, uint64_t *slots, const void *frame, const void *caller);
void __nm_test_failed(void);

enum call_state __nm_calls_state;
#define state __nm_calls_state
static bool has_numbers, has_structures;
/* Whether the run that lists the calls looks at their texts. */
static bool looks_at_texts;
static long first, last;
/* The number of the boundary call that began last. */
static long calls;
int __nm_calls_list = -1;
#define list __nm_calls_list
/* The frame of the call that is under way; the stack grows downwards. */
static const void *outer;
static const void *main_thread;
/* The function whose boundary call has just begun; NULL once another function announces a call. */
static const char *entered;
static bool has_failed;
/* Whether the call that is under way is the one that the test's own run had here. */
static bool is_own_call;
/* The calls of the test's own run from the first chosen one on: see `summary`. */
static uint64_t own[MOST_LATER + 64];
static long own_count;
/* How many of these are of the same test; 0: that is not known. */
static long test_calls;

static const unsigned char *rows;
static size_t rows_size;

/* What is wanted behind `FIRST-LAST`: `/KINDS/FORMATS/TEXTS/FORKS:WORD,WORD…`; behind the last word of the test stands a `!`. */
static void start_giving(const char *kinds)
{
    const char *end = kinds + strcspn(kinds, "/:"), *words = strchr(kinds, ':');
    has_numbers = memchr(kinds, 'n', (size_t)(end - kinds)) != NULL;
    has_structures = memchr(kinds, 's', (size_t)(end - kinds)) != NULL;
    const char *formats = *end == '/' ? end + 1 : NULL;
    const char *texts = formats != NULL ? strchr(formats, '/') : NULL;
    const char *forks = texts != NULL ? strchr(texts + 1, '/') : NULL;
    if (formats != NULL)
        __nm_formats_wanted(formats);
    if (texts != NULL)
        __nm_texts_wanted(texts + 1);
    if (forks != NULL)
        __nm_children_wanted(forks + 1);
    for (const char *at = words; at != NULL && own_count < (long)(sizeof own / sizeof *own); at = strchr(at + 1, ',')) {
        char *behind;
        own[own_count++] = strtoull(at + 1, &behind, 16);
        if (*behind == '!')
            test_calls = own_count;
    }
}

void __nm_calls_start(void)
{
    const char *wanted = getenv("NEARMISS_CALLS"), *more;
    state = OFF;
    main_thread = __builtin_thread_pointer();
    if (wanted == NULL)
        return;
    __nm_children_count_apart();
    looks_at_texts = *wanted == '*';
    wanted += looks_at_texts;
    if (*wanted == '/') {
        list = open(wanted, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        state = list >= 0 ? LISTING : OFF;
    } else if (sscanf(wanted, "%ld-%ld", &first, &last) == 2) {
        state = GIVING;
        more = strchr(wanted, '/');
        if (more != NULL)
            start_giving(more + 1);
    }
    unsetenv("NEARMISS_CALLS");
}

static void read_rows(void)
{
    const char *path = getenv("NEARMISS_REPLAY");
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

struct row {
    uint32_t name_size, index, content_size;
};

/* The next row with this name, or with this name and fields, from a place on; the place behind it. */
static size_t find_row(size_t at, const char *name, struct row *row, const unsigned char **content)
{
    size_t name_size = strlen(name);
    while (rows_size - at >= sizeof *row) {
        memcpy(row, rows + at, sizeof *row);
        at += sizeof *row;
        if (rows_size - at < (uint64_t)row->name_size + row->content_size)
            break;
        const unsigned char *row_name = rows + at;
        at += (size_t)row->name_size + row->content_size;
        if (row->name_size < name_size || memcmp(row_name, name, name_size) != 0)
            continue;
        if (row->name_size == name_size || row_name[name_size] == ':') {
            *content = row_name + row->name_size;
            return at;
        }
    }
    return 0;
}

static bool is_pointer(char kind)
{
    return kind == 'k' || kind == 'm' || kind == 'u' || kind == 'o';
}

static unsigned count(const struct call *call)
{
    return call_parameters(call);
}

/* Whether a parameter leads to data. */
static bool is_data(const struct call *call, int i)
{
    return strchr("kmu", call->kinds[2 * i]) != NULL;
}

static bool is_size(const struct call *call, int i)
{
    return call->kinds[2 * i] == 'n' && call->kinds[2 * i + 1] >= '4';
}

/* An enumeration says no size, but is a number of the test's, too. */
static bool is_number(const struct call *call, int i)
{
    return is_size(call, i) || call->kinds[2 * i] == 'e';
}

static uint64_t number(const struct call *call, const uint64_t *slots, int i)
{
    return call->kinds[2 * i + 1] == '4' ? (uint32_t)slots[i] : slots[i];
}

static uint32_t mixed(uint32_t hash, uint32_t value)
{
    return (hash ^ value) * 16777619u;
}

/* What the test promises by a call: digests of the function's name and, where it has data, of its numbers; and which
 * pointers are null. What kind of number the call returned is known later (`abi::boundary::returned`). */
static uint64_t summary(const struct call *call, const uint64_t *slots)
{
    uint32_t name = 2166136261u, numbers = name, nulls = 0;
    bool has_data = false;
    for (const char *at = call->name; *at != 0; at++)
        name = mixed(name, (unsigned char)*at);
    for (unsigned i = 0; i < count(call); i++) {
        has_data |= is_data(call, (int)i);
        nulls |= (uint32_t)(is_pointer(call->kinds[2 * i]) && slots[i] == 0) << i;
        if (is_number(call, (int)i))
            numbers = mixed(numbers, (uint32_t)number(call, slots, (int)i));
    }
    return (uint64_t)(has_data ? numbers : 0) << 32 | (name & NAME) << 16 | nulls;
}

/* A line of the list: number, the forks that led to this process, function, where it is called from, what its pointers are, the numbers. */
static void show(const struct call *call, const uint64_t *slots, const void *caller)
{
    static char line[1024];
    Dl_info info = {0};
    dladdr(caller, &info);
    const char *file = info.dli_fname != NULL ? info.dli_fname : "";
    /* The program itself goes by the name that it was started with. */
    static char program[512];
    Dl_info own = {0};
    dladdr((const void *)&__nm_call_begin, &own);
    if (info.dli_fbase == own.dli_fbase && readlink("/proc/self/exe", program, sizeof program - 1) > 0)
        file = program;
    size_t offset = (size_t)((const char *)caller - (const char *)info.dli_fbase);
    int size = snprintf(line, 768, "%ld\t%s\t%s\t%s\t%zx\t%s\t%llx", calls, __nm_children_chain(), call->name, file,
                        offset, call->kinds, (unsigned long long)summary(call, slots));
    size = size < 768 ? size : 767;
    for (unsigned i = 0; i < count(call) && size < 960; i++)
        size += snprintf(line + size, 24, "\t%llx", (unsigned long long)slots[i]);
    line[size++] = '\n';
    if (write(list, line, (size_t)size) != size)
        state = OFF;
}

/* The test would not go on: whatever comes now means nothing. */
__attribute__((noreturn)) static void leave(void)
{
    if (__nm_call_leave != NULL)
        __nm_call_leave();
    _exit(0);
}

/* The list is long enough, and does not say so by being whole. */
__attribute__((noreturn)) static void end_list(void)
{
    dprintf(list, "more\n");
    leave();
}

/* In an address twin: whether memory is kept free around an object. What was freed is not meant. */
static bool is_red_zone(uint64_t address)
{
    size_t scale, offset;
    __asan_get_shadow_mapping(&scale, &offset);
    uint8_t shadow = *(const uint8_t *)((address >> scale) + offset);
    bool is_behind = shadow < 1u << scale && shadow != 0 && (address & ((1u << scale) - 1)) >= shadow;
    bool is_on_stack = shadow >= 0xf1 && shadow <= 0xf3;
    return is_behind || is_on_stack || shadow == 0xf9 || shadow == 0xfa;
}

/* Whether other pointers of the call lead into the object that ends here. */
static bool is_end(const struct call *call, const uint64_t *slots, uint64_t address)
{
    for (unsigned i = 0; i < count(call); i++)
        if (is_pointer(call->kinds[2 * i]) && slots[i] != 0 && slots[i] < address
            && __asan_region_is_poisoned((void *)slots[i], address - slots[i]) == NULL)
            return true;
    return false;
}

/* Whether the test passes a pointer to no object: it has moved one of the library's by what it knows of its own data
 * (`literal + sizeof("prefix")`). */
static bool leads_outside(const struct call *call, const uint64_t *slots)
{
    for (unsigned i = 0; i < count(call); i++)
        if (is_pointer(call->kinds[2 * i]) && slots[i] != 0 && is_red_zone(slots[i]) && !is_end(call, slots, slots[i]))
            return true;
    return false;
}

/* What was no null pointer in the test's own run is none that the test would pass, numbers that come with data
 * belong to the test's own data, pointers lead to something, and where an expectation failed, numbers below zero would not be
 * passed either. */
static void check_promises(const struct call *call, const uint64_t *slots)
{
    uint64_t now = summary(call, slots), then = 0;
    /* The next test would not have come, or would have begun anew. */
    if (has_failed && test_calls != 0 && calls - first >= test_calls)
        leave();
    if (calls - first < own_count)
        then = own[calls - first];
    is_own_call = (then >> 16 & NAME) == (now >> 16 & NAME);
    if (!is_own_call)
        then = 0;
    if ((now & ~then & 0xffff) != 0 || (is_own_call && now >> 32 != then >> 32))
        leave();
    for (unsigned i = 0; has_failed && i < count(call); i++) {
        char bytes = call->kinds[2 * i + 1];
        int64_t value = bytes == '4' ? (int32_t)slots[i] : (int64_t)slots[i];
        if (call->kinds[2 * i] == 'n' && (bytes == '4' || bytes == '8') && value < 0)
            leave();
    }
    if (__asan_get_shadow_mapping != NULL && leads_outside(call, slots))
        leave();
}

/* Where the numbers of a plain input lie: in the argument's slot, or in the structure that it leads to, at the places
 * that the input's name has. */
static unsigned pieces_of(const char *name, uint32_t index, uint64_t *slots, struct piece *pieces)
{
    unsigned found = 0;
    uint64_t *slot = &slots[PARAMETER(index)];
    if (ELEMENT(index) != 0) {
        pieces[0] = (struct piece){(uint64_t)slot, ELEMENT(index)};
        return 1;
    }
    const char *at = strchr(name, ':');
    at = at != NULL ? strchr(at + 1, ':') : NULL;
    while (at != NULL && (at = strchr(at, '@')) != NULL && found < MOST_PIECES) {
        char *end;
        uint64_t offset = strtoull(at + 1, &end, 10);
        if (*end == 0)
            break;
        pieces[found++] = (struct piece){*slot + offset, (uint64_t)(end[1] - '0')};
        at = end;
    }
    return found;
}

static void give_plain(uint64_t *slots, const char *name, uint32_t index, const unsigned char *content, size_t size)
{
    struct piece pieces[MOST_PIECES];
    unsigned number = pieces_of(name, index, slots, pieces);
    for (unsigned i = 0; i < number && pieces[i].size <= size; i++) {
        memcpy((void *)pieces[i].address, content, pieces[i].size);
        if (__msan_unpoison != NULL)
            __msan_unpoison((void *)pieces[i].address, pieces[i].size);
        content += pieces[i].size;
        size -= pieces[i].size;
    }
}

void __nm_call_move(const struct call *call, uint64_t *slots, uint64_t from, uint64_t size, uint64_t to)
{
    for (unsigned i = 0; i < count(call); i++)
        if (is_pointer(call->kinds[2 * i]) && slots[i] >= from && slots[i] - from <= size)
            slots[i] = to + (slots[i] - from);
}

/* A block of exactly this size. Sanitizers give one byte to a block of none: there it is the end of another one. */
static char *block_of(size_t size)
{
    bool is_end = size == 0 && __asan_region_is_poisoned != NULL;
    char *memory = malloc(is_end ? 8 : size);
    return memory != NULL && is_end ? memory + 8 : memory;
}

/* Puts an invented input in its place. */
static void give(const struct call *call, uint64_t *slots, const char *name, uint32_t index,
                 const unsigned char *content, size_t size)
{
    unsigned parameter = PARAMETER(index), tied = TIED(index), element = ELEMENT(index);
    if (parameter >= MOST_PARAMETERS)
        return;
    if (index & IS_PLAIN)
        return give_plain(slots, name, index, content, size);
    char *memory = (char *)slots[parameter];
    size_t end = index & IS_STRING ? element : 0;
    if (index & MOVES)
        memory = block_of(size + end);
    if (memory == NULL)
        return;
    if (__msan_unpoison != NULL)
        __msan_unpoison(memory, size + end);
    /* What the call would have written behind shorter data is the test's own, and no failure where it is read. */
    if (__msan_unpoison != NULL && !(index & MOVES) && tied != 0 && tied <= MOST_PARAMETERS)
        __msan_unpoison(memory, slots[tied - 1] * (element ? element : 1));
    memcpy(memory, content, size);
    memset(memory + size, 0, end);
    if (index & IS_FIXED && index & HAS_OTHERS)
        __nm_call_move(call, slots, slots[parameter], size, (uint64_t)memory);
    slots[parameter] = (uint64_t)memory;
    if (tied != 0 && tied <= MOST_PARAMETERS)
        slots[tied - 1] = size / (element ? element : 1) + MORE(index);
}

/* The number that may say how large the data behind a pointer is: the next one, with no other pointer between them, or
 * else the one right before, if that is no other data's. */
int __nm_call_number_of(const struct call *call, int pointer)
{
    int most = (int)count(call);
    for (int i = pointer + 1; i < most && !is_pointer(call->kinds[2 * i]); i++)
        if (is_size(call, i))
            return i;
    bool is_taken = pointer >= 2 && is_data(call, pointer - 2);
    return pointer >= 1 && is_size(call, pointer - 1) && !is_taken ? pointer - 1 : -1;
}

static bool is_text(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i] < ' ' && strchr("\t\n\v\f\r\033", bytes[i]) == NULL)
            return false;
    return true;
}

/* Whether other pointers of the call lead into the same data, or to its end: then it keeps its length. What lies right behind
 * it may be another object, though. */
static bool has_others(const struct call *call, const uint64_t *slots, unsigned parameter, uint64_t size)
{
    struct memory memory;
    for (unsigned i = 0; i < count(call); i++) {
        uint64_t offset = slots[i] - slots[parameter];
        if (i == parameter || !is_pointer(call->kinds[2 * i]) || offset > size)
            continue;
        if (offset < size || !__nm_call_memory((const void *)slots[i], &memory) || memory.start != slots[i])
            return true;
    }
    return false;
}

/* Whether a pointer of the call leads to the end of the data. */
static bool has_end(const struct call *call, const uint64_t *slots, unsigned parameter, uint64_t size)
{
    for (unsigned i = 0; i < count(call); i++)
        if (is_pointer(call->kinds[2 * i]) && slots[i] == slots[parameter] + size)
            return true;
    return false;
}

/* The largest number of a call but one that lies within a size: how much of the data was there before, or where in it to
 * begin. Numbers as small as flags are not meant. */
static uint64_t largest_within(const struct call *call, const uint64_t *slots, int but, uint64_t size)
{
    uint64_t largest = 0;
    for (int i = 0; i < (int)count(call); i++) {
        uint64_t value = i != but && is_size(call, i) ? number(call, slots, i) : 0;
        if (value > 1 && value <= size && value > largest)
            largest = value;
    }
    return largest;
}

static bool ends_with_zero(const unsigned char *data, uint64_t size, unsigned element)
{
    if (size < element || size % element != 0)
        return false;
    for (unsigned i = 1; i <= element; i++)
        if (data[size - i] != 0)
            return false;
    return true;
}

/* Whether another pointer of the call leads to as many pointers to objects: then numbers beside these say how large they are, or
 * the like (`argv`, `argvlen`). */
static bool is_beside_pointers(const struct call *call, const uint64_t *slots, uint64_t count_of)
{
    struct memory memory, object;
    for (unsigned i = 0; i < count(call); i++) {
        const uint64_t *pointers = (const uint64_t *)slots[i];
        if (call->kinds[2 * i] != 'o' || pointers == NULL || !__nm_call_memory(pointers, &memory))
            continue;
        uint64_t room = (memory.start + memory.size - slots[i]) / sizeof *pointers, objects = 0;
        for (uint64_t at = 0; at < count_of && at < room && count_of <= room; at++)
            objects += pointers[at] == 0 || __nm_call_memory((const void *)pointers[at], &object);
        if (count_of != 0 && objects == count_of)
            return true;
    }
    return false;
}

/* How what a parameter leads to is an input, if it is one. */
static uint32_t shape(const struct call *call, const uint64_t *slots, unsigned i, uint64_t *size)
{
    char kind = call->kinds[2 * i];
    unsigned element = (unsigned)(call->kinds[2 * i + 1] - '0');
    const unsigned char *data = (const unsigned char *)slots[i];
    struct memory memory;
    if (data == NULL || __nm_formats_has(call, i) || !__nm_call_memory(data, &memory))
        return NO_INPUT;
    uint64_t rest = memory.start + memory.size - (uint64_t)data;
    bool has_bytes = element <= 1;
    if (memory.is_text && !has_bytes)
        return NO_INPUT;
    const unsigned char *end = has_bytes ? memchr(data, 0, rest) : NULL;
    bool is_string = end != NULL && (memory.is_writable || (uint64_t)(end - data) + 1 == rest);
    *size = is_string ? (uint64_t)(end - data) : rest;
    if (has_bytes)
        element = 1;
    int says = __nm_call_number_of(call, (int)i);
    uint64_t value = says >= 0 ? number(call, slots, says) : 0;
    bool is_whole = value != 0 && value * element == rest && !memory.is_writable && kind != 'u';
    bool is_behind = is_string && value == *size + 1;
    bool is_tied = value != 0 && (is_behind || (is_string ? value == *size : value * element == *size));
    if (!is_tied && is_string && is_whole)
        /* A literal with zeros in it. */
        is_string = false, *size = rest, is_tied = true;
    /* Wide characters, or bytes with zeros in them, of which the last one may be what ends them. */
    bool is_ended = !is_tied && !is_string && ends_with_zero(data, rest, element);
    if (is_ended)
        is_string = true, *size = rest - element;
    bool others = has_others(call, slots, i, *size);
    bool is_bare = is_string && has_bytes && !memory.is_writable && !is_behind && (is_tied || has_end(call, slots, i, *size))
        && __nm_texts_are_bare(call, i);
    bool is_known = kind == 'k' || (kind == 'm' && has_bytes);
    if (kind == 'u')
        is_known = is_string && !memory.is_writable && is_text(data, *size);
    if (kind != 'u' && call->kinds[2 * i + 1] == '0')
        is_known = is_tied || (kind == 'k' && is_string && !memory.is_writable && is_text(data, *size));
    /* One element is a number that is passed by its address. */
    if (!is_known || *size > UINT32_MAX || (!is_string && rest < 2 * element))
        return NO_INPUT;
    if (element >= 4 && is_beside_pointers(call, slots, *size / element))
        return NO_INPUT;
    /* What the call may rely on: as many bytes as its number says, or another one beside that says how large the data is. */
    uint64_t least = is_tied || value > *size ? 0 : value;
    if (is_tied && has_bytes)
        least = largest_within(call, slots, says, *size);
    /* A text whose first byte says how long the rest is (`abi::boundary::shape::kept`). */
    bool is_counted = is_string && has_bytes && *size >= 2 && data[0] < ' ' && data[0] == *size - 1;
    bool is_fixed = (is_ended && has_bytes) || least > MOST_LEAST || value == *size + 2 || others || (is_counted && !is_tied);
    uint32_t fixed = (is_fixed ? IS_FIXED : 0) | (others ? HAS_OTHERS : 0);
    uint32_t ending = is_bare ? IS_BARE : is_string ? IS_STRING : 0;
    return i | (memory.is_writable ? 0 : MOVES) | ending | fixed | element << 12
        | (is_tied ? (unsigned)says + 1 : 0) << 16 | (uint32_t)is_behind << 24 | (uint32_t)(fixed ? 0 : least) << 25;
}

static void name_plain(uint64_t *slots, const char *name, uint32_t index)
{
    struct piece pieces[MOST_PIECES];
    unsigned char content[8 * MOST_PIECES];
    unsigned number = pieces_of(name, index, slots, pieces);
    struct input input = {
        .name = name,
        .index = index,
        .address = (uint64_t)content,
        .pieces = pieces,
        .piece_count = number,
    };
    for (unsigned i = 0; i < number; i++) {
        memcpy(content + input.size, (void *)pieces[i].address, pieces[i].size);
        input.size += pieces[i].size;
    }
    if (input.size != 0)
        __nm_call_input(&input);
}

/* Names what a call was given, in the shape that it was given in, as an input of the recording. */
static void name_input(uint64_t *slots, const char *name, uint32_t index, size_t size)
{
    if (index & IS_PLAIN)
        return name_plain(slots, name, index);
    struct input input = {
        .name = name,
        .index = index,
        .address = slots[PARAMETER(index)],
        .size = size,
        .has_length = ELEMENT(index) == 1 && !(index & IS_FIXED) && (index & IS_STRING || TIED(index) != 0),
        .tied = TIED(index) != 0 ? &slots[TIED(index) - 1] : NULL,
    };
    __nm_call_input(&input);
}

/* Whether a number may be one that says how large data is: then it stays as it is, or is tied to the data's size. */
static bool is_of_data(const struct call *call, int number)
{
    for (int i = 0; i < (int)count(call); i++)
        if (is_data(call, i) && __nm_call_number_of(call, i) == number)
            return true;
    return false;
}

/* The numbers of the structure that a parameter leads to, as the call's description has them. */
static const char *fields_of(const struct call *call, unsigned parameter, int *size)
{
    for (const char *at = call->fields; *at != 0; at = strchr(at, ';') + 1) {
        char *fields;
        if (strtoul(at, &fields, 10) == parameter) {
            *size = (int)(strchr(at, ';') - (fields + 1));
            return fields + 1;
        }
    }
    return NULL;
}

/* Whether numbers in the structure that a parameter leads to are inputs; the input's name. A structure that may not be
 * written to stays as it is. */
static bool is_plain_structure(const struct call *call, uint64_t *slots, unsigned i, const char *call_name, char *name)
{
    int size;
    const char *fields = has_structures && call->kinds[2 * i] == 'o' ? fields_of(call, i, &size) : NULL;
    struct memory memory;
    struct piece pieces[MOST_PIECES];
    if (fields == NULL || slots[i] == 0 || !__nm_call_memory((const void *)slots[i], &memory) || !memory.is_writable)
        return false;
    if (snprintf(name, MOST_NAME, "%s:%.*s", call_name, size, fields) >= MOST_NAME)
        return false;
    unsigned number = pieces_of(name, i | IS_PLAIN, slots, pieces);
    for (unsigned at = 0; at < number; at++)
        if (pieces[at].address + pieces[at].size > memory.start + memory.size)
            return false;
    return number != 0;
}

/* The test's own data as inputs. What may not be written to is moved into a block of its size. */
static void name_own(const struct call *call, uint64_t *slots, const char *name)
{
    char long_name[MOST_NAME];
    for (unsigned i = 0; i < count(call); i++) {
        uint64_t size = 0;
        uint32_t index = is_data(call, (int)i) ? shape(call, slots, i, &size) : NO_INPUT;
        if (index != NO_INPUT && index & MOVES)
            give(call, slots, name, index, (const unsigned char *)slots[i], size);
        if (index != NO_INPUT)
            name_input(slots, name, index, size);
        else if (has_numbers && call->kinds[2 * i] == 'n' && !is_of_data(call, (int)i))
            name_plain(slots, name, i | IS_PLAIN | IS_FIXED | (uint32_t)(call->kinds[2 * i + 1] - '0') << 12);
        else if (is_plain_structure(call, slots, i, name, long_name))
            name_plain(slots, long_name, i | IS_PLAIN | IS_FIXED);
    }
}

static void give_inputs(const struct call *call, uint64_t *slots)
{
    char name[256], row_name[MOST_NAME];
    struct row row;
    const unsigned char *content;
    bool is_given = false;
    snprintf(name, sizeof name, "%ld:%s", calls, call->name);
    for (size_t at = 0; (at = find_row(at, name, &row, &content)) != 0; is_given = true) {
        snprintf(row_name, sizeof row_name, "%.*s", (int)row.name_size, (const char *)content - row.name_size);
        give(call, slots, row_name, row.index, content, row.content_size);
        if (__nm_call_input != NULL)
            name_input(slots, row_name, row.index, row.content_size);
    }
    if (!is_given && __nm_call_input != NULL && __nm_call_memory != NULL)
        name_own(call, slots, name);
}

/* Numbers that come with data are the test's word about it, whatever they were made of; so is that pointers lead
 * to something. */
static void fix_promises(const struct call *call, uint64_t *slots)
{
    bool has_data = false;
    for (unsigned i = 0; i < count(call); i++)
        if (is_pointer(call->kinds[2 * i]) && slots[i] != 0)
            __nm_call_pointer(&slots[i]);
    for (unsigned i = 0; i < count(call); i++)
        has_data |= is_data(call, (int)i);
    for (unsigned i = 0; has_data && i < count(call); i++)
        if (is_number(call, (int)i))
            __nm_call_number(&slots[i], (uint64_t)(call->kinds[2 * i + 1] - '0'));
}

void __nm_call_begin(const struct call *call, uint64_t *slots, const void *frame, const void *caller)
{
    if (state == OFF)
        return;
    if (state == UNKNOWN)
        __nm_calls_start();
    if (state <= OFF || __builtin_thread_pointer() != main_thread)
        return;
    entered = NULL;
    if (outer != NULL && frame < outer)
        return;
    outer = frame;
    calls = __atomic_add_fetch(&__nm_calls_counts->calls, 1, __ATOMIC_SEQ_CST);
    if (state == COUNTING)
        return;
    if (state == LISTING && calls > MOST_LISTED)
        end_list();
    if (state == LISTING) {
        show(call, slots, caller);
        __nm_formats_listed(call, slots);
        return __nm_texts_listed(call, slots, looks_at_texts);
    }
    if (__nm_call_inside != NULL)
        __nm_call_inside(true);
    if (calls < first)
        return;
    /* Also with the test's own data: it may go on for millions of calls. */
    if (calls > last + MOST_LATER)
        leave();
    if (calls == first) {
        if (__nm_serve_here != NULL && __nm_serve_here())
            __nm_children_report_to(2);
        __nm_children_count_apart();
        read_rows();
        is_own_call = true;
    } else if (rows_size != 0) {
        check_promises(call, slots);
    }
    if (__nm_call_number != NULL)
        fix_promises(call, slots);
    if (calls <= last)
        give_inputs(call, slots);
    if (__nm_mark != NULL)
        __nm_mark(PHASE_FUNCTION);
    entered = call->name;
}

/* Whether the contract of this function is looked at for a call of the test's own: there it is what the test
 * promises. */
int __nm_call_is_boundary(const char *function)
{
    return entered != NULL && outer != NULL && __builtin_thread_pointer() == main_thread
        && strcmp(entered, function) == 0;
}

/* The test's own call violates the contract: with invented data it is none that a test would make. */
void __nm_call_excluded(void)
{
    if (rows_size != 0)
        leave();
}

/* Numbers below zero are errors, of which each is of its own kind. */
static unsigned kind_of(int64_t number)
{
    return number < 0 ? 0x80 | ((unsigned)number & 0x7f) : number == 0 ? 1 : 2;
}

/* Where a call returns an error that it did not return in the test's own run, or none where it did, an expectation of the test
 * fails, whether or not the test stops there. */
static void check_returned(int64_t number)
{
    uint64_t then = calls - first < own_count ? own[calls - first] : 0;
    if (is_own_call && RETURNED(then) != 0 && RETURNED(then) != kind_of(number))
        __nm_test_failed();
}

void __nm_call_end(const void *frame, int64_t number, uint64_t has_number)
{
    if (outer != frame)
        return;
    outer = NULL;
    if (state == LISTING && has_number)
        dprintf(list, "returned\t%ld\t%u\n", calls, kind_of(number));
    if (state == GIVING && rows_size != 0 && has_number)
        check_returned(number);
    if (state == GIVING && __nm_call_inside != NULL)
        __nm_call_inside(false);
    if (state == GIVING && calls >= first && __nm_mark != NULL)
        __nm_mark(PHASE_SETUP);
}

/* An assertion of the code under test fails. Behind a failed expectation it was called as no test would call it: what it asserts
 * then is how it is to be used. */
void __nm_call_asserts(void)
{
    if (state == GIVING && has_failed)
        leave();
}

/* AddressSanitizer is about to report. Behind a failed expectation objects may belong to others than the test takes for
 * their owners: what it frees then, and uses nevertheless, is its own affair. */
void __nm_call_error(void)
{
    const char *what = __asan_get_report_description != NULL ? __asan_get_report_description() : "";
    if (state == GIVING && has_failed && (strstr(what, "use-after-free") || strstr(what, "double-free")))
        leave();
}

/* A framework leaves the test by a jump. It does so in the test's own run, and out of a call of the library. */
bool __nm_test_goes_on(void)
{
    bool goes_on = state == GIVING && rows_size != 0 && outer == NULL;
    if (goes_on)
        __nm_test_failed();
    return goes_on;
}

/* In a memory twin the run ends here: what the test passes from now on may be what the library would have written, had it
 * not failed, or what it has taken over and freed. */
void __nm_test_failed(void)
{
    has_failed = true;
    if (state == GIVING && __msan_unpoison != NULL && rows_size != 0)
        leave();
}
