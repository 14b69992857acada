// Free keeps errno.
#include <errno.h>
#include <stdlib.h>
int main(void)
{
    void *p = malloc(1 << 20);
    errno = 7;
    free(p);
    return errno != 7;
}
