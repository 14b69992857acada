// Stat of a name with a slash.
#include <sys/stat.h>
int main(void)
{
    struct stat s;
    return stat("conftest.c/", &s) != -1;
}
