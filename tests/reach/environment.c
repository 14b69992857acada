//@ command = "nearmiss reach environment.c:9 --function f"
//@ verdict = "infeasible"
//@ assumed = "`getenv` answers as it does here"
#include <stdlib.h>

int f(int x)
{
    if (getenv("NEARMISS_IS_NEVER_SET"))
        return x;
    return 0;
}
