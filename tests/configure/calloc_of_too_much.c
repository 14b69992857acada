// Calloc of too much.
#include <stdlib.h>
int main(void)
{
    volatile size_t n = (size_t)-1 / 2 + 2;
    void *p = calloc(n, 2);
    int r = p != 0;
    free(p);
    return r;
}
