// Realloc of nothing.
#include <stdlib.h>
int main(void)
{
    void *p = realloc(0, 0);
    int r = !p;
    free(p);
    return r;
}
