/* Texts that a call is given together with their length. A text in the test's source always has a zero behind it, so reading
 * one byte beyond the length would never be seen; and some functions do rely on that zero, whatever the length says.
 *
 * The list of calls has `text FUNCTION PARAMETER` for a parameter that is given such texts. One run more looks how many of the
 * tests' own calls rely on the zero: each text is copied to the end of a page behind which nothing may be read, and listed as
 * `text` once more. The first read behind it is listed as `zero FUNCTION PARAMETER`, whoever reads and when (the text may be
 * kept), and the page then has the zero; a number that says something else counts as such a read. `sizes` is listed where
 * texts of several lengths come with theirs. Where next to no zero is read, texts are given without one: what reads beyond them
 * is a failure (`engine::calls::list`).
 */
#define _GNU_SOURCE
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "calls.h"

/* Parameters that are given texts with their lengths; texts that are looked at, in all and of one parameter; the longest. */
#define MOST_PARAMETERS 256
#define MOST_TEXTS 8192
#define MOST_ALIKE 512
#define MOST_BYTES 65536
#define PAGE 4096ul

/* A parameter, and how many of its texts were looked at. */
struct parameter {
    const struct call *call;
    unsigned number, looked;
    size_t first_size;
    bool has_sizes;
};

/* The page behind a text. */
struct guard {
    uint64_t page;
    struct parameter *parameter;
};

static struct parameter parameters[MOST_PARAMETERS];
static unsigned parameter_count, guard_count;
static struct guard *guards;
static struct sigaction before;
/* What the list said, `FUNCTION#PARAMETER,…`, in a run on chosen calls. */
static char *wanted;

static void say(const char *what, const struct parameter *parameter)
{
    char line[512];
    int size = snprintf(line, sizeof line, "%s\t%s\t%u\n", what, parameter->call->name, parameter->number);
    if (size < (int)sizeof line && write(__nm_calls_list, line, (size_t)size) != size)
        __nm_calls_state = OFF;
}

static struct parameter *known(const struct call *call, unsigned number)
{
    for (unsigned i = 0; i < parameter_count; i++)
        if (parameters[i].call == call && parameters[i].number == number)
            return &parameters[i];
    if (parameter_count == MOST_PARAMETERS)
        return NULL;
    struct parameter *one = &parameters[parameter_count++];
    *one = (struct parameter){.call = call, .number = number};
    return one;
}

/* Whether an address lies in memory of a module that may not be written to: there are literals and constant arrays. */
static int is_constant(struct dl_phdr_info *info, size_t size, void *wanted_address)
{
    (void)size;
    uint64_t address = (uint64_t)wanted_address;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        bool is_kept = segment->p_type == PT_LOAD && !(segment->p_flags & PF_W);
        if (is_kept && address - (info->dlpi_addr + segment->p_vaddr) < segment->p_memsz)
            return 1;
    }
    return 0;
}

static bool is_pointer(char kind)
{
    return strchr("kmuo", kind) != NULL;
}

/* Whether a number behind the end of a text is the length of a literal with zeros in it. */
static bool is_longer_literal(const char *text, uint64_t size)
{
    return size < MOST_BYTES && dl_iterate_phdr(is_constant, (void *)(text + size)) && text[size] == 0 && text[size - 1] != 0;
}

/* The length of a text that the call says too, by a number or by a pointer to its end; 0 if it says none. A number behind its
 * end says something else: `is_other`. */
static size_t said_length(const struct call *call, const uint64_t *slots, unsigned i, bool *is_other)
{
    bool is_data = strchr("kmu", call->kinds[2 * i]) != NULL && call->kinds[2 * i + 1] <= '1';
    if (!is_data || slots[i] == 0 || !dl_iterate_phdr(is_constant, (void *)slots[i]))
        return 0;
    const char *text = (const char *)slots[i];
    size_t size = strnlen(text, MOST_BYTES);
    if (size == 0 || size == MOST_BYTES)
        return 0;
    for (unsigned other = 0; other < call_parameters(call); other++)
        if (is_pointer(call->kinds[2 * other]) && slots[other] == slots[i] + size)
            return size;
    int says = __nm_call_number_of(call, (int)i);
    uint64_t value = says < 0 ? 0 : call->kinds[2 * says + 1] == '4' ? (uint32_t)slots[says] : slots[says];
    *is_other = value > size && !is_longer_literal(text, value);
    return value == size ? size : 0;
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    (void)context;
    uint64_t page = (uint64_t)info->si_addr & -PAGE;
    for (unsigned i = 0; i < guard_count; i++)
        if (guards[i].page == page && mprotect((void *)page, PAGE, PROT_READ | PROT_WRITE) == 0) {
            say("zero", guards[i].parameter);
            return;
        }
    /* Not ours: it happens once more, as it would have without us. */
    sigaction(signal, &before, NULL);
}

static bool is_ready(void)
{
    if (guards != NULL)
        return true;
    guards = calloc(MOST_TEXTS, sizeof *guards);
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    return guards != NULL && sigaction(SIGSEGV, &action, &before) == 0;
}

/* Moves a text before a page that may not be read. */
static void guard(const struct call *call, uint64_t *slots, struct parameter *parameter, size_t size)
{
    if (parameter->looked++ >= MOST_ALIKE || guard_count == MOST_TEXTS || !is_ready())
        return;
    uint64_t from = slots[parameter->number], room = (size + PAGE - 1) & -PAGE;
    char *memory = mmap(NULL, room + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + room, PAGE, PROT_NONE) != 0)
        return;
    char *text = memory + room - size;
    memcpy(text, (const void *)from, size);
    guards[guard_count++] = (struct guard){(uint64_t)memory + room, parameter};
    __nm_call_move(call, slots, from, size, (uint64_t)text);
    say("text", parameter);
}

/* That texts of two lengths come with their lengths is no chance. */
static void note_size(struct parameter *parameter, size_t size)
{
    if (parameter->first_size == 0)
        parameter->first_size = size;
    if (parameter->first_size == size || parameter->has_sizes)
        return;
    parameter->has_sizes = true;
    say("sizes", parameter);
}

void __nm_texts_listed(const struct call *call, uint64_t *slots, bool looks)
{
    for (unsigned i = 0; i < call_parameters(call); i++) {
        bool is_other = false;
        size_t size = said_length(call, slots, i, &is_other);
        struct parameter *parameter = size != 0 || is_other ? known(call, i) : NULL;
        if (parameter == NULL)
            continue;
        if (!looks) {
            if (parameter->looked++ == 0)
                say("text", parameter);
        } else if (is_other) {
            say("text", parameter);
            say("zero", parameter);
        } else {
            note_size(parameter, size);
            guard(call, slots, parameter, size);
        }
    }
}

void __nm_texts_wanted(const char *words)
{
    wanted = strndup(words, strcspn(words, "/:"));
}

bool __nm_texts_are_bare(const struct call *call, unsigned parameter)
{
    return call_is_among(wanted, call, parameter);
}
