// A small protocol of words, compared by the string functions.
#include "challenge.h"
#include <strings.h>

static void solve(void)
{
    char *text = (char *)in;
    NEED(strncmp(text, "OPEN:", 5) == 0);
    NEED(strncasecmp(text + 5, "Session", 7) == 0);
    char *rest = text + 12;
    NEED(*rest++ == ' ');
    char word[9] = { 0 };
    memcpy(word, rest, 8);
    NEED(strcmp(word, "password") == 0);
    NEED(strstr(rest + 8, "end!") != NULL);
    FOUND();
}
