/* clang's analyser has an alarm in each of these functions. */
#include <stdlib.h>

/* No square leaves 2 when divided by 4. */
int refuted(unsigned a)
{
    int x = 1;
    int *p = &x;
    if (a * a % 4 == 2)
        p = 0;
    return *p;
}

int confirmed(int a, int b)
{
    if (a > 5)
        b = 0;
    return a / b;
}

int leaks(int a)
{
    int *p = malloc(sizeof *p);
    if (p == NULL || a > 3)
        return 0;
    free(p);
    return 1;
}
