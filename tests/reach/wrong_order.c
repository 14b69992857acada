//@ command = "nearmiss reach wrong_order.c:12 --via wrong_order.c:9 --via wrong_order.c:7 --function f"
//@ verdict = "infeasible"
//@ runs = 1
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
