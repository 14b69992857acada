//@ command = "nearmiss explore library_bounded.c --function find --size t=n --range n=0..2"
//@ paths = 5
// Whether there is another byte, and whether it is the one that is sought: memchr decides on both by turns.
#include <string.h>

int find(const char *t, unsigned long n)
{
    const char *found = memchr(t, 7, n);
    return found ? (int)(found - t) : -1;
}
