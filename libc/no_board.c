/* A program of the user's own has no fork server: named inputs come from a file alone (replay.c). */
#include <stdbool.h>
#include <stddef.h>

bool __nm_board_rows(const unsigned char **rows, size_t *size)
{
    (void)rows;
    (void)size;
    return false;
}
