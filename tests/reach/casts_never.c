//@ command = "nearmiss reach casts_never.c:8 --function f"
//@ verdict = "infeasible"
int f(int i)
{
    unsigned char c = (unsigned char)i;
    int wide = c;
    if (wide < 0 || wide > 255)
        return 1;
    return 0;
}
