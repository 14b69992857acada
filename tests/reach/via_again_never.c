//@ command = "nearmiss reach via_again_never.c:8 --function f --via via_again_never.c:6 --via via_again_never.c:6 --via via_again_never.c:6"
//@ verdict = "infeasible"
int f(int n)
{
    for (int i = 0; i < n && i < 2; i++)
        n += i > 9;
    if (n > 100)
        return 1;
    return 0;
}
