// Strnlen stops at its bound.
#include <string.h>
int main(void)
{
    char b[] = {'a', 'b', 'c'};
    return strnlen(b, 3) != 3;
}
