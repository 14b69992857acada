//@ command = "nearmiss reach assembly_calls.c:7 --function f"
//@ verdict = "reached"
/* What assembly calls is not known: it may be any function. */
int calls;
__attribute__((used)) void hidden(void)
{
    calls++;
}

int f(int x)
{
    if (x == 5)
        __asm__ volatile("subq $128, %%rsp\n\tcall hidden\n\taddq $128, %%rsp" ::
                             : "memory", "cc", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11");
    return calls;
}
