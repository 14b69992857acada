//@ command = "nearmiss explore error_variadic.c --function f"
//@ error = ["f", "..."]
#include <stdarg.h>

int f(int n, ...)
{
    va_list list;
    va_start(list, n);
    int first = va_arg(list, int);
    va_end(list);
    return first;
}
