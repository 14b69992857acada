//@ command = "nearmiss reach alias_with_sizes.c:8 --function f --size a=4 --size b=4"
//@ verdict = "infeasible"
//@ assumed = "`b` never points into `a`"
int f(const int *a, int *b)
{
    int old = a[1]; b[0] = old + 1;
    if (a[1] != old)
        return 1;
    return 0;
}
