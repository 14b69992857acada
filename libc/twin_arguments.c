/* Linked into every sanitizer twin: the strings of the command line become blocks of their own
 * size, so that AddressSanitizer knows where they end. */
#include <string.h>

__attribute__((constructor)) void __nm_twin_arguments(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        char *copy = strdup(argv[i]);
        if (copy != NULL)
            argv[i] = copy;
    }
}
