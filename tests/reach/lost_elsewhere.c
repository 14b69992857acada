//@ command = "nearmiss reach lost_elsewhere.c:11 --function f"
//@ verdict = "infeasible"
int f(int a, int b)
{
    if (b > 5) {
        double d = a;
        return d * d == 1521.0;
    }
    if (b < 10)
        return 2;
    return 1;
}
