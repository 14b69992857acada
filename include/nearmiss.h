/* What a harness may say to nearmiss.
 *
 * Programs need none of this: command line, standard input and files are symbolic by
 * themselves. A harness for a single function names the memory that is its input:
 *
 *     int x = 5;                              // the test's value
 *     nearmiss_symbolic(&x, sizeof x, "x");   // any other value counts as a neighbour
 *     nearmiss_assume(x >= 0);                // but only these
 *     f(x);
 *
 * Without a recording both do nothing beyond what they say: memory keeps its value, and a
 * program whose assumption does not hold ends with status 0.
 */
#ifndef NEARMISS_H
#define NEARMISS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#else
#include <stdbool.h>
#endif

/* The `size` bytes at `start` are an input. Calls with one name are counted: the first is
 * name[0], the second name[1]. */
void nearmiss_symbolic(void *start, size_t size, const char *name);

/* Inputs without this property are of no interest. */
void nearmiss_assume(bool condition);

/* What a test is to remember of this run: `size` bytes at `start`, under this name. */
void nearmiss_result(const char *name, const void *start, size_t size);

#ifdef __cplusplus
}
#endif

#endif
