//@ command = "nearmiss explore abort_per_path.c --function check"
//@ paths = 4
// Each way of the first decision has an abort of its own behind it.
#include <stdlib.h>

int chosen;

int check(int x, int y)
{
    if (x)
        chosen = 1;
    else
        chosen = 2;
    if (y)
        abort(); //~ error[abort]
    return 0;
}
