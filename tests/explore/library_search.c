//@ command = "nearmiss explore library_search.c --function kind --string text=2"
//@ paths = 5
// strchr looks at one byte after the other: it is the one that is sought, the end, or neither.
#include <string.h>

int kind(const char *text)
{
    const char *found = strchr(text, '=');
    if (!found)
        return 0;
    return found == text ? 1 : 2;
}
