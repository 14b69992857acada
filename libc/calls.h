/* What the parts of the boundary share: `calls.c`, `call_formats.c`, `call_forks.c`. */
#ifndef NEARMISS_CALLS_H
#define NEARMISS_CALLS_H

#include <stdbool.h>
#include <stdint.h>

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
