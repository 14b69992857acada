//@ command = "nearmiss reach unwritten.c:15 --function f"
//@ verdict = "infeasible"
//@ assumed = "never written"
static void fill(int *p, int x)
{
    if (x > 5)
        *p = x;
}

int f(int x)
{
    int y;
    fill(&y, x);
    if (x < 3 && y == 12345)
        return 1;
    return 0;
}
