//@ command = "nearmiss reach handler_at_exit.c:9 --function f"
//@ verdict = "unknown"
//@ reason = "atexit"
#include <stdlib.h>
static int last;
static void end(void)
{
    if (last == 77)
        last = 1;
}
int f(int x) { last = x; atexit(end); return 0; }
