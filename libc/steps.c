/* Searches and comparisons step by step, for explorations.
 *
 * Where all paths of a function are wanted, what happens next must depend on nothing but what was
 * decided before: then each decision that a run has made has exactly one other way, and no path is
 * lost behind a model that asked libc first and told the path about the answer. So these are the
 * functions as anybody would write them. Each byte is checked before it is read.
 */
#include "steps.h"

#pragma GCC visibility push(hidden)

size_t __nm_model_step_length(const char *s, size_t limit)
{
    size_t length = 0;
    while (length < limit && nm_step_byte(s + length) != 0)
        length++;
    return length;
}

char *__nm_model_step_find(const char *s, char c)
{
    for (;; s++) {
        char byte = nm_step_byte(s);
        if (byte == c)
            return (char *)s;
        if (byte == 0)
            return NULL;
    }
}

char *__nm_model_step_find_last(const char *s, size_t count, char c)
{
    while (count-- > 0)
        if (nm_step_byte(s + count) == c)
            return (char *)s + count;
    return NULL;
}

char *__nm_model_step_find_in(const char *s, size_t count, char c)
{
    for (size_t i = 0; i < count; i++)
        if (nm_step_byte(s + i) == c)
            return (char *)s + i;
    return NULL;
}

/* Whether a string starts with the needle; -1: it is too short for it, here and further on. */
static int starts_with(const char *s, const char *needle, nm_folding *fold)
{
    for (size_t i = 0;; i++) {
        char sought = nm_step_byte(needle + i);
        if (sought == 0)
            return 1;
        char byte = nm_step_byte(s + i);
        if (byte == 0)
            return -1;
        if (fold((unsigned char)byte) != fold((unsigned char)sought))
            return 0;
    }
}

char *__nm_model_step_find_string(const char *s, const char *needle, nm_folding *fold)
{
    for (;; s++) {
        int is_here = starts_with(s, needle, fold);
        if (is_here != 0)
            return is_here > 0 ? (char *)s : NULL;
    }
}

size_t __nm_model_step_span(const char *s, const char *set, size_t size, bool members)
{
    for (size_t length = 0;; length++) {
        char byte = nm_step_byte(s + length);
        if (byte == 0)
            return length;
        int is_member = 0;
        for (size_t i = 0; i < size; i++)
            is_member |= set[i] == byte;
        /* One branch for the whole set. */
        if ((is_member != 0) != members)
            return length;
    }
}

int __nm_model_step_compare(const char *left, const char *right, size_t limit, nm_folding *fold)
{
    for (size_t i = 0; i < limit; i++) {
        int a = fold((unsigned char)nm_step_byte(left + i));
        int b = fold((unsigned char)nm_step_byte(right + i));
        if (a != b)
            return a - b;
        if (a == 0)
            return 0;
    }
    return 0;
}
