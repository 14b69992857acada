//@ command = "nearmiss reach not_through.c:10 --not-through not_through.c:7 --function f"
//@ verdict = "infeasible"
int f(int a, int b)
{
    int state = 0;
    if (a > 3)
        state = 1;
    b += 2;
    if (state == 1)
        return b;
    return 0;
}
