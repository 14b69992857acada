//@ command = "nearmiss reach alias_said.c:6 --function f --alias p=q"
//@ verdict = "reached"
int f(int *p, int *q)
{
    *q = 2; *p = 3; if (*q == 3)
        return 1;
    return 0;
}
