//@ command = "nearmiss explore fixed_size.c --function clear --range count=0..4"
//@ paths = 2
// How much is cleared is fixed while a run is recorded, and what was cleared is no input any more: the run
// decides without a word, and yet there are two ways.
#include <string.h>

int clear(unsigned count)
{
    char text[8] = "abcdefg";
    memset(text, 0, count);
    if (text[2] == 0)
        return 1;
    return text[count & 7];
}
