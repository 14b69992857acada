/* Arguments and environment variables of the sanitizer twin, each in memory of its own.
 *
 * The kernel lays them one behind the other, where no sanitizer sees what is read or written
 * beside them. Before the program starts they are copied to the heap, with AddressSanitizer's
 * red zones around each.
 */
#include <stdlib.h>
#include <string.h>

/* Referred to by the link command, so that this file is taken from its archive. */
const char __nm_strings_apart = 1;

/* Also called for the arguments of a forked run (main.c). */
void __nm_set_apart(char **strings)
{
    for (; strings != NULL && *strings != NULL; strings++) {
        size_t size = strlen(*strings) + 1;
        char *copy = malloc(size);
        if (copy != NULL)
            *strings = memcpy(copy, *strings, size);
    }
}

#ifdef __GLIBC__
/* glibc gives constructors what `main` gets; others do not. */
__attribute__((constructor(101))) static void copy_strings(int count, char **arguments, char **variables)
{
    (void)count;
    __nm_set_apart(arguments);
    __nm_set_apart(variables);
}
#endif

/* AddressSanitizer is about to report. It asks the program itself; what decides may be in a library (`calls.c`). */
extern void __nm_call_error(void) __attribute__((weak));
void __asan_on_error(void)
{
    if (__nm_call_error != NULL)
        __nm_call_error();
}
