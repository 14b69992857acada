//@ command = "nearmiss explore harness_testcomp.c"
//@ paths = 5
// Too small, too large, 0; and an odd number; an even one is an error.
extern int __VERIFIER_nondet_int(void);
extern void __assert_fail(const char *, const char *, unsigned, const char *) __attribute__((noreturn));

static void reach_error(void)
{
    __assert_fail("0", "harness_testcomp.c", 9, "reach_error"); //~ error[assertion]
}

int main(void)
{
    int n = __VERIFIER_nondet_int();
    if (n < 0 || n > 9)
        return 0;
    if (n == 0)
        return 0;
    if (n % 2 == 0)
        reach_error();
    return 1;
}
