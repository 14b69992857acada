//@ command = "nearmiss explore harness_testcomp_pointer.c"
//@ paths = 1
//@ incomplete = "lost"
// A pointer that nothing chooses is NULL, and that is said.
extern void *__VERIFIER_nondet_pointer(void);
extern long __VERIFIER_nondet_ptrdiff_t(void);

int main(void)
{
    long difference = __VERIFIER_nondet_ptrdiff_t();
    if (__VERIFIER_nondet_pointer() && difference == 8)
        return 2;
    return difference == 9;
}
