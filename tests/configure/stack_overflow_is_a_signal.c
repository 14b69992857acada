// Stack overflow is a signal.
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static char other[65536];
static void h(int s)
{
    (void)s;
    _exit(4);
}
static int deep(volatile char *p)
{
    volatile char b[4096];
    b[0] = *p;
    return deep(b) + b[0];
}
int main(void)
{
    stack_t s = {.ss_sp = other, .ss_size = sizeof other};
    struct sigaction a = {.sa_handler = h, .sa_flags = SA_ONSTACK};
    char c = 0;
    sigaltstack(&s, 0);
    sigaction(SIGSEGV, &a, 0);
    return deep(&c);
}
