//@ command = "nearmiss reach failed --function f jumps_back.c"
//@ verdict = "reached"
#include <setjmp.h>

static jmp_buf back;

static void check(int a)
{
    if (a == 77)
        longjmp(back, 1);
}

int f(int a)
{
    if (setjmp(back) != 0)
        goto failed;
    check(a);
    return 0;
failed:
    return -1;
}
