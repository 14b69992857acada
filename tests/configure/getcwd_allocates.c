// Getcwd allocates.
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
    char *p = getcwd(0, 0);
    return !p;
}
