//@ command = "nearmiss reach precondition.c:13 --function f --pre even"
//@ verdict = "infeasible"
//@ assumed = "even"
int even(int n)
{
    return n % 2 == 0;
}

int f(int n)
{
    if (n > 40 && n < 44)
        if (n == 43)
            return 1;
    return 0;
}
