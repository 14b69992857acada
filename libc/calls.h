/* What the parts of the boundary share: `calls.c`, `call_formats.c`, `call_forks.c`, `call_texts.c`. */
#ifndef NEARMISS_CALLS_H
#define NEARMISS_CALLS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct call {
    const char *name, *kinds, *fields;
};

/* Whether calls are announced at all, are listed, have inputs, or only count: in a child that is not the chosen one. */
enum call_state { UNKNOWN, OFF, LISTING, GIVING, COUNTING };

/* Calls and forks of all processes of the program so far. */
struct call_counts {
    long calls, forks;
};

#define INTERNAL __attribute__((visibility("hidden")))

extern INTERNAL enum call_state __nm_calls_state;
/* Where calls are listed. */
extern INTERNAL int __nm_calls_list;
extern INTERNAL struct call_counts *__nm_calls_counts;
/* Reads what the engine wants, at first. */
INTERNAL void __nm_calls_start(void);

/* How many parameters a call has. */
static inline unsigned call_parameters(const struct call *call)
{
    unsigned size = 0;
    while (call->kinds[size] != 0)
        size++;
    return size / 2;
}

/* Whether a parameter is among `FUNCTION#PARAMETER,…`. */
static inline bool call_is_among(const char *words, const struct call *call, unsigned parameter)
{
    size_t size = strlen(call->name);
    for (const char *at = words; at != NULL && *at != 0;) {
        size_t word = strcspn(at, ",");
        if (word > size && at[size] == '#' && memcmp(at, call->name, size) == 0
            && strtoul(at + size + 1, NULL, 10) == parameter)
            return true;
        at += word + (at[word] == ',');
    }
    return false;
}

/* The number that may say how large the data behind a pointer is, or -1. */
INTERNAL int __nm_call_number_of(const struct call *call, int pointer);
/* Pointers into data that moves, or to its end, move along. */
INTERNAL void __nm_call_move(const struct call *call, uint64_t *slots, uint64_t from, uint64_t size, uint64_t to);

/* The texts of calls that say how long they are (`call_texts.c`). */
INTERNAL void __nm_texts_listed(const struct call *call, uint64_t *slots, bool looks);
INTERNAL void __nm_texts_wanted(const char *words);
/* Whether nothing relies on the zero behind them. */
INTERNAL bool __nm_texts_are_bare(const struct call *call, unsigned parameter);

/* The formats among the texts of calls (`call_formats.c`). */
INTERNAL void __nm_formats_listed(const struct call *call, const uint64_t *slots);
INTERNAL void __nm_formats_wanted(const char *words);
INTERNAL bool __nm_formats_has(const struct call *call, unsigned parameter);

/* The children of test code (`call_forks.c`). */
INTERNAL void __nm_children_wanted(const char *words);
INTERNAL void __nm_children_count_apart(void);
/* Where a twin reports what fails. */
INTERNAL void __nm_children_report_to(int fd);
/* The forks that led to this process, as the list has them. */
INTERNAL const char *__nm_children_chain(void);

#endif
