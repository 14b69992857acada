//@ command = "nearmiss explore harness_klee_ends.c"
//@ paths = 5
// Each failing word is a failure of its own, where it is called; a name may be missing.
#include <klee/klee.h>

int main(void)
{
    int a = klee_int(0);
    if (a == 1)
        klee_abort(); //~ error[abort]
    if (a == 2)
        klee_abort(); //~ error[abort]
    if (a == 3)
        klee_report_error(__FILE__, __LINE__, "three", "user"); //~ error[abort]
    if (a == 4)
        klee_silent_exit(0);
    return 0;
}
