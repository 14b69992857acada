// Alloca.
#include <alloca.h>
static int f(int n)
{
    char *p = alloca(n);
    p[n - 1] = 1;
    return p[n - 1];
}
int main(void)
{
    return f(100) != 1;
}
