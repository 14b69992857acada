// Fortified.
// options: -O2 -D_FORTIFY_SOURCE=2
#include <string.h>
int main(int c, char **v)
{
    char b[9];
    strncpy(b, v[c], c == 9);
    return 0;
}
