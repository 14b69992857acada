//@ command = "nearmiss explore abort_after_work.c --function check"
//@ paths = 4
// What the program does on its way to abort decides too: three ways of that, and the end.
#include <stdlib.h>

static int chosen;

static void describe(int b)
{
    if (b > 10)
        chosen = 1;
    else if (b < -10)
        chosen = 2;
}

int check(int a, int b)
{
    if (a == 5) {
        describe(b);
        abort(); //~ error[abort]
    }
    return chosen;
}
