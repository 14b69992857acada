//@ command = "nearmiss reach casts.c:9 --function f"
//@ verdict = "reached"
//@ runs = 4
int f(int i)
{
    signed char c = (signed char)i;
    int wide = c;
    if (i > 1000 && wide < -100)
        return 1;
    return 0;
}
