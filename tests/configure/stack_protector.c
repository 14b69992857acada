// Stack protector.
// options: -fstack-protector-strong
#include <string.h>
int main(int c, char **v)
{
    char b[99];
    strncpy(b, v[0], 98);
    b[98] = 0;
    return c - 1;
}
