//@ command = "nearmiss reach behind_a_failure.c:8 --function f --when 'b == 0'"
//@ verdict = "infeasible"
//@ assumed = "first failure"
int f(int a, int b)
{
    a = a / b;
    if (a > 5)
        return a;
    return 0;
}
