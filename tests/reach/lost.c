//@ command = "nearmiss reach lost.c:8 --function f"
//@ verdict = "unknown"
//@ reason = "lost"
int f(int a)
{
    double d = a;
    if (d * d == 1521.0)
        return 1;
    return 0;
}
