// Va_copy.
#include <stdarg.h>
static int f(int n, ...)
{
    va_list a, b;
    va_start(a, n);
    va_copy(b, a);
    int r = va_arg(b, int) - va_arg(a, int);
    va_end(a);
    va_end(b);
    return r;
}
int main(void)
{
    return f(1, 5);
}
