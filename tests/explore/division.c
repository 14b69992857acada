//@ command = "nearmiss explore division.c --function share"
//@ paths = 4
// Nobody, somebody, a quotient that is too large; the sign decides on nothing.
int share(int all, int heads)
{
    int each = all / heads; //~ error[division-by-zero] error[signed-overflow]
    if (each > 10)
        return 10;
    return each;
}
