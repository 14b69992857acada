// Strtol of a bare 0x.
#include <stdlib.h>
int main(void)
{
    char s[] = "0x", *end;
    return strtol(s, &end, 16) || end != s + 1;
}
