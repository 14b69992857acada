//@ command = "nearmiss explore string_length.c --function kind --string text=3"
//@ paths = 4
// How long a string is decides which memory it has: every length is tried.
#include <string.h>

int kind(const char *text)
{
    switch (strlen(text)) {
    case 0:
        return 10;
    case 1:
        return 20;
    case 2:
        return 30;
    default:
        return 40;
    }
}
