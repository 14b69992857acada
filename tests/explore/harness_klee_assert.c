//@ command = "nearmiss explore harness_klee_assert.c"
//@ paths = 3
// As KLEE's own header has it.
void klee_make_symbolic(void *, unsigned long, const char *);
void klee_assert_fail(const char *, const char *, unsigned, const char *) __attribute__((noreturn));
#define klee_assert(expr)                                                                      \
    ((expr) ? (void)(0) : klee_assert_fail(#expr, __FILE__, __LINE__, __PRETTY_FUNCTION__))

int main(void)
{
    int a;
    klee_make_symbolic(&a, sizeof a, "a");
    klee_assert(a != 9); //~ error[assertion]
    return a > 4 ? 1 : 0;
}
