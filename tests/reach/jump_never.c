//@ command = "nearmiss reach jump_never.c:15 --function f"
//@ verdict = "infeasible"
#include <setjmp.h>
static jmp_buf env;
static void deep(int n, int x) { if (n == 0) { if (x == 77) longjmp(env, 5); return; } deep(n - 1, x - 1); }
int f(int x)
{
    switch (setjmp(env)) {
    case 0:
        deep(3, x);
        return 0;
    case 5:
        return 1;
    default:
        return 2;
    }
}
