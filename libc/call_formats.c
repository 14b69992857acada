/* Texts of calls that the code under test uses as formats, at once or later: what is printed is as they say, so they are
 * the test's promise and no data.
 *
 * In the run that lists the calls, texts with a conversion are remembered. Before a function such as `printf` is called
 * with a format that is no literal, `__nm_call_format` compares it with them: a parameter whose text is all or part of one, or
 * has all of one in it, is listed as `format FUNCTION PARAMETER`. All texts of that parameter stay as they are then.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "calls.h"

/* Texts that are remembered; their bytes; comparisons that a program may cost. */
#define MOST_TEXTS 256
#define MOST_BYTES 256
#define MOST_COMPARISONS 4000000

struct text {
    const struct call *call;
    unsigned parameter;
    bool is_format;
    char bytes[MOST_BYTES];
};

static struct text *texts;
static unsigned text_count;
static unsigned long comparisons;
/* What the list said, `FUNCTION#PARAMETER,…`, in a run on chosen calls. */
static char *wanted;

/* Whether a text has a conversion that takes an argument. */
static bool has_conversion(const char *text)
{
    while ((text = strchr(text, '%')) != NULL) {
        text++;
        if (*text == '%') {
            text++;
            continue;
        }
        text += strspn(text, "0123456789-+ #'*$.hljztLqI");
        if (*text != 0 && strchr("diouxXeEfFgGaAcspnm[SC", *text) != NULL)
            return true;
    }
    return false;
}

/* Copies a text that may not be one, or may lie nowhere. */
static bool copy(uint64_t from, char *to)
{
    struct iovec own = {to, MOST_BYTES}, there = {(void *)from, MOST_BYTES};
    /* Up to the end of the page what can be read at all can be read. */
    size_t page = 4096 - from % 4096;
    if (page < MOST_BYTES)
        own.iov_len = there.iov_len = page;
    ssize_t size = process_vm_readv(getpid(), &own, 1, &there, 1, 0);
    return size > 0 && memchr(to, 0, (size_t)size) != NULL;
}

static void remember(const struct call *call, unsigned parameter, const char *bytes)
{
    for (unsigned i = 0; i < text_count; i++) {
        const struct text *text = &texts[i];
        if (text->call == call && text->parameter == parameter && (text->is_format || strcmp(text->bytes, bytes) == 0))
            return;
    }
    if (texts == NULL)
        texts = calloc(MOST_TEXTS, sizeof *texts);
    if (texts == NULL || text_count == MOST_TEXTS)
        return;
    struct text *text = &texts[text_count++];
    text->call = call;
    text->parameter = parameter;
    strcpy(text->bytes, bytes);
}

void __nm_formats_listed(const struct call *call, const uint64_t *slots)
{
    char bytes[MOST_BYTES];
    for (unsigned i = 0; i < call_parameters(call); i++) {
        bool is_text = strchr("kmu", call->kinds[2 * i]) != NULL && call->kinds[2 * i + 1] <= '1';
        if (is_text && slots[i] != 0 && copy(slots[i], bytes) && has_conversion(bytes))
            remember(call, i, bytes);
    }
}

/* The code under test is about to use a format. */
void __nm_call_format(const char *format)
{
    if (__nm_calls_state != LISTING || format == NULL)
        return;
    for (unsigned i = 0; i < text_count && comparisons < MOST_COMPARISONS; i++) {
        struct text *text = &texts[i];
        comparisons++;
        if (text->is_format)
            continue;
        bool is_used = strstr(format, text->bytes) != NULL || (has_conversion(format) && strstr(text->bytes, format) != NULL);
        if (!is_used)
            continue;
        text->is_format = true;
        dprintf(__nm_calls_list, "format\t%s\t%u\n", text->call->name, text->parameter);
    }
}

void __nm_formats_wanted(const char *words)
{
    wanted = strndup(words, strcspn(words, "/:"));
}

bool __nm_formats_has(const struct call *call, unsigned parameter)
{
    return call_is_among(wanted, call, parameter);
}
