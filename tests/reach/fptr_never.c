//@ command = "nearmiss reach hidden fptr_never.c --function f"
//@ verdict = "infeasible"
static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int hidden(int a, int b) { return a ^ b; }
static int (*table[])(int, int) = { add, sub, hidden };
int f(unsigned op, int a, int b)
{
    if (op > 1)
        return 0;
    return table[op](a, b);
}
