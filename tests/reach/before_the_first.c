//@ command = "nearmiss reach before_the_first.c:7 --function f --size p=4"
//@ verdict = "infeasible"
//@ assumed = "leads to the first element of its memory"
int f(int *p)
{
    if (p[-1] == 4)
        return 1;
    return 0;
}
