/* Reads a record: a kind, a length, a text of that length. */
#include <stdlib.h>
#include <string.h>

char *copy(const unsigned char *record, int left)
{
    int size = record[1] | record[2] << 8;
    char *text;

    if (record[0] == 'T') {
        size = size - 4;
    } else if (record[0] == 'L') {
        if (size > 255)
            return NULL;
    } else {
        return NULL;
    }
    if (left < 3 + size)
        return NULL;
    text = malloc(size + 1);
    if (text == NULL)
        return NULL;
    memcpy(text, record + 3, size);
    text[size] = '\0';
    return text;
}
