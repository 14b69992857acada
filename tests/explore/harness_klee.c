//@ command = "nearmiss explore harness_klee.c"
//@ paths = 3
#include <klee/klee.h>

static int sign_of(int x)
{
    if (x == 0)
        return 0;
    if (x < 0)
        return -1;
    return 1;
}

int main(void)
{
    int a;
    klee_make_symbolic(&a, sizeof a, "a");
    return sign_of(a);
}
