//@ command = "nearmiss explore kernel_state.c"
//@ paths = 43
//@ incomplete = "input data was lost"
// What a run changes in the kernel is not put back with its memory: each descriptor would be another number. Runs
// that are made twice show it, and a process of its own makes each then.
#include <klee/klee.h>

static int next_descriptor(void)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(32L /* dup */), "D"(0L) : "rcx", "r11", "memory");
    return (int)result;
}

int main(void)
{
    unsigned char x;
    klee_make_symbolic(&x, sizeof x, "x");
    int first = next_descriptor();
    if (x == first)
        return 1;
    for (int i = 0; i < 40; i++)
        if (x == 100 + i)
            return 4 + i;
    return x > first + 1 ? 2 : 3;
}
