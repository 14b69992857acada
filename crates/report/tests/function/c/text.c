/* Strings. */
#include <assert.h>
#include <stddef.h>

static char *upper(char *s, const char *stop, unsigned char *bytes)
{
    for (; *s != '\0' && *s != *stop; s++) {
        if (*s >= 'a' && *s <= 'z')
            *s -= 32;
        if (bytes != NULL)
            bytes[0]++;
    }
    assert(stop[0] != '!');
    return s;
}
