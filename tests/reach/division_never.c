//@ command = "nearmiss reach division_never.c:7 --function f --when 'r >= 7'"
//@ verdict = "infeasible"
int f(unsigned short a)
{
    unsigned q = a / 7, r = a % 7;
    if (q > 100)
        return 1;
    return 0;
}
