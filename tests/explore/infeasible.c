//@ command = "nearmiss explore infeasible.c --function strange"
//@ paths = 3
//@ infeasible = 1
int strange(unsigned char x)
{
    if (x < 10)
        return 0;
    if (x % 2 == 0)
        return 1;
    if ((x & 1) == 0)
        return 2;
    return 3;
}
