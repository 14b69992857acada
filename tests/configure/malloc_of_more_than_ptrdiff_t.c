// Malloc of more than ptrdiff_t.
#include <stdint.h>
#include <stdlib.h>
int main(void)
{
    volatile size_t n = PTRDIFF_MAX;
    n += 1;
    return malloc(n) != 0;
}
