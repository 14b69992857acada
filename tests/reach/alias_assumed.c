//@ command = "nearmiss reach alias_assumed.c:8 --function f"
//@ verdict = "infeasible"
//@ assumed = "`q` never points into `p`: `--alias q=p` says otherwise"
int f(int *p, int *q)
{
    *q = 2; *p = 3;
    if (*q == 3)
        return 1;
    return 0;
}
