// Memcmp of eight bits.
#include <string.h>
int main(void)
{
    char a[] = "@", b[] = "\200";
    return memcmp(a, b, 1) >= 0;
}
