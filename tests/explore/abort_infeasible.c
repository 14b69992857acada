//@ command = "nearmiss explore abort_infeasible.c --function check --range a=0..10"
//@ paths = 2
//@ infeasible = 1
// No input gets to the abort.
#include <stdlib.h>

int check(int a)
{
    if (a > 20)
        abort();
    if (a > 5)
        return 1;
    return 0;
}
