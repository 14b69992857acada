//@ command = "nearmiss reach builtin_jump.c:10 --function f"
//@ verdict = "reached"
static void *buf[5];
static __attribute__((noinline)) void out(int x) { if (x == 9) __builtin_longjmp(buf, 1); for (;;) __asm__ volatile(""); }
int f(int x)
{
    if (__builtin_setjmp(buf)) {
        if (x > 100)
            return 1;
        return 2;
    }
    if (x != 9)
        return 0;
    out(x);
    return 3;
}
