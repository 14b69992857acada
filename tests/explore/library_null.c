//@ command = "nearmiss explore library_null.c --function is_long --string text=2 --null text"
//@ paths = 3
#include <string.h>

int is_long(const char *text)
{
    return strlen(text) > 1; //~ error[null-dereference]
}
