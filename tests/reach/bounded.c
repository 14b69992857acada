//@ command = "nearmiss reach bounded.c:9 --function f --loops 3"
//@ verdict = "unknown"
//@ reason = "bounds on loops"
int f(int n)
{
    int i;
    for (i = 0; i < n; i++) ;
    if (i == 9)
        return 1;
    return 0;
}
