//@ command = "nearmiss reach not_through_itself.c:6 --function f --not-through not_through_itself.c:6"
//@ verdict = "infeasible"
int f(int n)
{
    if (n > 3)
        n = 9;
    return n;
}
