//@ command = "nearmiss reach handler_of_abort.c:10 --function f"
//@ verdict = "unknown"
//@ reason = "a handler of the signal"
#include <signal.h>
#include <stdlib.h>
static int last;
static void handle(int number)
{
    if (last == 77)
        last = number;
}
int f(int x)
{
    last = x;
    signal(SIGABRT, handle);
    abort();
}
