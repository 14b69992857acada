//@ command = "nearmiss explore abort_first.c --function check"
//@ paths = 3
// The first input aborts; behind that lie another abort and the end.
#include <stdlib.h>

int check(int a, int b)
{
    if (a == 0)
        abort(); //~ error[abort]
    if (b == 77)
        abort(); //~ error[abort]
    return 0;
}
