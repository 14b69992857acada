//@ command = "nearmiss reach wrong_order.c:11 --via wrong_order.c:8 --via wrong_order.c:6 --function f"
//@ verdict = "infeasible"
int f(int a, int b)
{
    if (a > 3)
        b++;
    if (b > 7)
        b--;
    if (a > b)
        return 0;
    return b;
}
