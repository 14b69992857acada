//@ command = "nearmiss reach casts_sign.c:10 --function f"
//@ verdict = "reached"
int f(int x)
{
    unsigned char c = x;
    signed char s = c;
    short h = s;
    unsigned u = h;
    if (u == 0xffffff80u && x > 1000)
        return 1;
    return 0;
}
