//@ command = "nearmiss reach answer_of_printf.c:8 --function f"
//@ verdict = "infeasible"
//@ assumed = "`printf` answer as they do here"
#include <stdio.h>
int f(int x)
{
    if (printf("%s\n", x > 3 ? "a" : "b") < 0)
        return 1;
    return 0;
}
