//@ command = "nearmiss reach null_with_a_size.c:7 --function f --size p=2"
//@ verdict = "infeasible"
//@ assumed = "`p` is never NULL"
int f(int *p)
{
    if (!p)
        return 1;
    return p[0];
}
