// Malloc of nothing.
#include <stdlib.h>
int main(void)
{
    void *p = malloc(0);
    int r = !p;
    free(p);
    return r;
}
