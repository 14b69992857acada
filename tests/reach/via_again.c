//@ command = "nearmiss reach via_again.c:8 --function f --via via_again.c:6 --via via_again.c:6 --via via_again.c:6"
//@ verdict = "reached"
int f(int n)
{
    for (int i = 0; i < n && i < 4; i++)
        n += i > 9;
    if (n > 2)
        return 1;
    return 0;
}
