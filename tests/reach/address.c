//@ command = "nearmiss reach address.c:7 --function f --size p=4"
//@ verdict = "infeasible"
//@ assumed = "an address as a number"
int f(char *p)
{
    if (((unsigned long)p & 7) == 3)
        return 1;
    return 0;
}
