// Snprintf says what it needed.
#include <stdio.h>
int main(void)
{
    char b[4];
    return snprintf(b, 4, "%d", 12345) != 5 || b[3];
}
