//@ command = "nearmiss explore assertions.c --function check"
//@ paths = 6
// The first fails; b is small; b is large and the second fails, in two ways, or holds, in two ways.
#include <assert.h>

int check(int a, int b)
{
    int result = 0;
    assert(a != 0); //~ error[assertion]
    if (b <= 5)
        return -1;
    if (a > 100)
        result = 1;
    assert(b < 1000); //~ error[assertion]
    return result;
}
