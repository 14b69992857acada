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

/* What `nearmiss explore` should know about a parameter, a member or a global; a rule on its
 * command line wins. They stand behind the name:
 *
 *     int sum(const int *t NEARMISS_COUNT(n), int n NEARMISS_RANGE(0, 8));
 *     struct text {
 *         char *bytes NEARMISS_COUNT(length + 1);
 *         int length NEARMISS_RANGE(0, 15);
 *         char *name NEARMISS_STRING(8);
 *         struct text *other NEARMISS_NULLABLE;
 *     };
 *
 * Names in a count are those of other members of the structure, then of parameters. For compilers
 * other than clang they are nothing.
 */
#if defined(__clang__) && defined(__has_attribute)
#if __has_attribute(btf_decl_tag)
#define NEARMISS_TAG(text) __attribute__((btf_decl_tag("nearmiss:" text)))
#endif
#endif
#ifndef NEARMISS_TAG
#define NEARMISS_TAG(text)
#endif
#define NEARMISS_TEXT(words) #words

/* A pointer to so many elements; bytes for `void *`. */
#define NEARMISS_COUNT(n) NEARMISS_COUNT_(n)
#define NEARMISS_COUNT_(n) NEARMISS_TAG("count=" NEARMISS_TEXT(n))

/* A pointer to a string of at most so many bytes before its zero. */
#define NEARMISS_STRING(most) NEARMISS_STRING_(most)
#define NEARMISS_STRING_(most) NEARMISS_TAG("string=" NEARMISS_TEXT(most))

/* A number from `low` to `high`, or an array of them, or a pointer to them. */
#define NEARMISS_RANGE(low, high) NEARMISS_RANGE_(low, high)
#define NEARMISS_RANGE_(low, high) NEARMISS_TAG("range=" NEARMISS_TEXT(low) ".." NEARMISS_TEXT(high))

/* A pointer that may be null, or that never is. */
#define NEARMISS_NULLABLE NEARMISS_TAG("nullable")
#define NEARMISS_NONNULL NEARMISS_TAG("nullable=no")

/* A pointer to a function that writes through its own pointers. */
#define NEARMISS_WRITES NEARMISS_TAG("stub=writes")

#endif
