//@ command = "nearmiss explore harness_klee_symbolic.c"
//@ paths = 3
//@ failing = 1
// What depends on input is symbolic, in the twin too: it goes the same way.
#include <klee/klee.h>

#include <stdlib.h>

int main(void)
{
    int a, b = 3;
    char *block = malloc(10);
    klee_make_symbolic(&a, sizeof a, "a");
    klee_assert(klee_is_symbolic(a) && klee_is_symbolic(a ^ 1));
    klee_assert(!klee_is_symbolic(b) && klee_get_obj_size(block) == 10);
    klee_assert(klee_get_obj_size(&b) == sizeof b && klee_get_errno() == 0);
    free(block);
    if (a == 5)
        b = a;
    if (klee_is_symbolic(b) && a != 6)
        klee_assert(a < 0); //~ error[assertion]
    if (a == 7)
        b = 0;
    return b != 0;
}
