//@ command = "nearmiss explore string_unended.c --function length --size text=n --range n=0..2"
// Bytes that nobody has ended with a zero: strlen reads behind them, however many there are.
#include <string.h>

int length(const char *text, int n)
{
    return (int)strlen(text); //~ error[out-of-bounds-read]
}
