//@ command = "nearmiss reach returned.c:9 --via returned.c:7 --function f"
//@ verdict = "infeasible"
//@ runs = 2
int f(int a)
{
    if (a > 3)
        return 1;
    if (a > 2)
        return 2;
    return a;
}
