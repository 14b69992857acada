/* gets, which old programs still have: libc does not say how much it read. */
#include <stdio.h>

#include "capture.h"

HIDDEN char *__nm_captures_gets(char *to)
{
    char *end = to;
    int byte;
    flockfile(stdin);
    while ((byte = fgetc(stdin)) != EOF && byte != '\n')
        *end++ = (char)byte;
    int is_nothing = byte == EOF && (end == to || ferror(stdin));
    funlockfile(stdin);
    if (is_nothing)
        return NULL;
    *end = 0;
    return to;
}

NM_PLACE(gets, NM_READING);
