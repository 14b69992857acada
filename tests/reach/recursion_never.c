//@ command = "nearmiss reach start:found --function start --range n=0..6 recursion_never.c"
//@ verdict = "infeasible"
static int down(int n, int i)
{
    if (n == 0)
        return i;
    return down(n - 1, i + n);
}

int start(int n)
{
    int i = down(n, 1);
    if (i == 15)
        goto found;
    return 0;
found:
    return i;
}
