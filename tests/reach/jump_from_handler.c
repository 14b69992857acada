//@ command = "nearmiss reach jump_from_handler.c:15 --function f"
//@ verdict = "reached"
#include <setjmp.h>
#include <signal.h>
static sigjmp_buf context;
/* The way to the target goes down into the handler, and out of it by a jump. */
static void handler(int number) { siglongjmp(context, number); }
int f(int x)
{
    signal(SIGUSR1, handler);
    if (sigsetjmp(context, 1)) {
        if (x != 4)
            return 2;
        /* Behind the jump. */
        return 1;
    }
    if (x == 4)
        raise(SIGUSR1);
    return 0;
}
