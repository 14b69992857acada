// Strtod of infinity.
#include <stdlib.h>
int main(void)
{
    char s[] = "-inf", *end;
    double d = strtod(s, &end);
    return d != -__builtin_inf() || end != s + 4;
}
