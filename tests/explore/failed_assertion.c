//@ command = "nearmiss explore failed_assertion.c --function average --range a=0..1000 --range b=0..1000"
//@ paths = 5
// Below 999, ordered or not; 999 twice; the assertion fails, ordered or not.
#include <assert.h>

int average(int a, int b)
{
    if (a > b) {
        int other = a;
        a = b;
        b = other;
    }
    int middle = a + (b - a) / 2;
    assert(middle < 999 || b != 1000); //~ error[assertion]
    return middle;
}
