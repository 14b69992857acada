/* `nearmiss_symbolic` for the sanitizer twin, which has no runtime.
 *
 * Inputs come from the board of a fork server (server.c), or from a file: NEARMISS_REPLAY names a file with the contents of named inputs: rows of
 * `u32 name size, u32 index, u32 content size, name, content`, little-endian
 * (see `abi::environment`). Call number `index` with a name gets that content; without the
 * variable, or without a row, memory keeps its value.
 */
#include <nearmiss.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
    uint32_t name_size, index, content_size;
};

static const unsigned char *rows;
static size_t rows_size;
/* The memory of rows that came from a file. */
static unsigned char *rows_of_file;

/* Only the memory twin has it. */
extern void __msan_unpoison(const volatile void *start, size_t size) __attribute__((weak));

bool __nm_board_rows(const unsigned char **rows, size_t *size);

/* How often each name was used so far. */
struct count {
    char *name;
    uint32_t calls;
    struct count *next;
};
static struct count *counts;

static void read_rows(void)
{
    static bool done;
    const char *path = getenv("NEARMISS_REPLAY");
    if (done)
        return;
    done = true;
    if (__nm_board_rows(&rows, &rows_size))
        return;
    FILE *file = path != NULL ? fopen(path, "rb") : NULL;
    if (file == NULL)
        return;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    rows = rows_of_file = size > 0 ? malloc((size_t)size) : NULL;
    if (rows_of_file != NULL)
        rows_size = fread(rows_of_file, 1, (size_t)size, file);
    fclose(file);
}

static uint32_t count_call(const char *name)
{
    for (struct count *count = counts; count != NULL; count = count->next)
        if (strcmp(count->name, name) == 0)
            return count->calls++;
    struct count *count = malloc(sizeof *count);
    if (count == NULL)
        return 0;
    *count = (struct count){.name = strdup(name), .calls = 1, .next = counts};
    counts = count;
    return 0;
}

/* At exit every sanitizer's leak check would count these. */
__attribute__((destructor)) static void release(void)
{
    free(rows_of_file);
    while (counts != NULL) {
        struct count *next = counts->next;
        free(counts->name);
        free(counts);
        counts = next;
    }
}

/* The content that the file has for this name and index, if any. */
bool __nm_replay_row(const char *name, uint32_t index, const unsigned char **content, size_t *size)
{
    read_rows();
    size_t name_size = strlen(name);
    for (size_t at = 0; rows_size - at >= sizeof(struct row);) {
        struct row row;
        memcpy(&row, rows + at, sizeof row);
        at += sizeof row;
        if (rows_size - at < (uint64_t)row.name_size + row.content_size)
            return false;
        const unsigned char *row_name = rows + at;
        at += (size_t)row.name_size + row.content_size;
        if (row.index == index && row.name_size == name_size
            && memcmp(row_name, name, name_size) == 0) {
            *content = row_name + row.name_size;
            *size = row.content_size;
            return true;
        }
    }
    return false;
}

/* What only a recording can answer is told like an input. */
static uint64_t recorded_answer(const char *name)
{
    uint64_t answer = 0;
    nearmiss_symbolic(&answer, sizeof answer, name);
    return answer;
}

uint64_t __nm_is_symbolic(uint64_t value)
{
    (void)value;
    return recorded_answer("klee_is_symbolic");
}

uint64_t __nm_object_size(uint64_t address)
{
    (void)address;
    return recorded_answer("klee_get_obj_size");
}

void __nm_unmodelled(void) {}

void nearmiss_symbolic(void *start, size_t size, const char *name)
{
    const unsigned char *content;
    size_t content_size;
    if (__msan_unpoison != NULL)
        __msan_unpoison(start, size);
    if (name == NULL || *name == 0)
        name = "unnamed";
    if (__nm_replay_row(name, count_call(name), &content, &content_size))
        memcpy(start, content, size < content_size ? size : content_size);
}
