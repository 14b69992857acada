// Snprintf of nothing.
#include <stdio.h>
int main(void)
{
    char b[2] = "x";
    return snprintf(b, 0, "%s", "abc") != 3 || b[0] != 'x';
}
