//@ command = "nearmiss explore library_tokens.c --function tokens --string text=2"
//@ paths = 7
// strtok_r skips commas, goes to the next one, and ends the token there.
#include <string.h>

int tokens(char *text)
{
    char *rest;
    int count = 0;
    for (char *token = strtok_r(text, ",", &rest); token; token = strtok_r(0, ",", &rest))
        count++;
    return count;
}
