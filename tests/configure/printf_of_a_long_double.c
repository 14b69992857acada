// Printf of a long double.
#include <stdio.h>
int main(void)
{
    return printf("%La %a %.3Lf\n", 1.0L, 3.1416, 1.75L) < 0;
}
