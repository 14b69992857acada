//@ command = "nearmiss explore void_pointer.c --function zeros --size data=size --range size=0..3"
//@ paths = 15
// Each byte is zero or not: 1 + 2 + 4 + 8.
#include <stddef.h>

int zeros(const void *data, size_t size)
{
    const unsigned char *bytes = data;
    int found = 0;
    for (size_t i = 0; i < size; i++)
        if (bytes[i] == 0)
            found++;
    return found;
}
