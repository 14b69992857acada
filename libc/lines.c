/* The model of `gets`, which fills its buffer as far as the line goes: made of `getline`, and of
 * `strcpy`, whose model checks that the buffer has room for a line of any length.
 */
#include "model.h"

#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(hidden)

char *NM_MODEL(gets)(char *to)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length = getline(&line, &room, stdin);
    if (length <= 0) {
        free(line);
        return NULL;
    }
    if (line[length - 1] == '\n')
        line[--length] = 0;
    /* Lines with zeros in them are copied whole where no length is asked about. */
    if (nm_records())
        strcpy(to, line);
    else
        memcpy(to, line, (size_t)length + 1);
    free(line);
    return to;
}
