//@ command = "nearmiss reach callback.c:10 --function f --size t=2 --range t=0..9"
//@ verdict = "reached"
#include <stdlib.h>

static int compare(const void *left, const void *right)
{
    int a = *(const int *)left, b = *(const int *)right;
    if (a != b)
        return a < b ? -1 : 1;
    return 0;
}

void f(int *t)
{
    qsort(t, 2, sizeof *t, compare);
}
