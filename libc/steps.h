/* What steps.c has for the models. */
#ifndef NM_STEPS_H
#define NM_STEPS_H

#include "model.h"

#pragma GCC visibility push(hidden)

/* A letter as another one. */
typedef int nm_folding(int c);

/* Reads a byte after a check, in the name of the program's call. */
static inline char nm_step_byte(const char *place)
{
    __nm_reads(place, 1);
    return *place;
}

/* strnlen */
size_t __nm_model_step_length(const char *s, size_t limit);
/* strchr */
char *__nm_model_step_find(const char *s, char c);
/* memchr, memrchr */
char *__nm_model_step_find_in(const char *s, size_t count, char c);
char *__nm_model_step_find_last(const char *s, size_t count, char c);
/* strstr */
char *__nm_model_step_find_string(const char *s, const char *needle, nm_folding *fold);
/* strspn, strcspn: how long the start of `s` is that has only members, or none, of a set. */
size_t __nm_model_step_span(const char *s, const char *set, size_t size, bool members);
/* strncmp */
int __nm_model_step_compare(const char *left, const char *right, size_t limit, nm_folding *fold);

#pragma GCC visibility pop

#endif
