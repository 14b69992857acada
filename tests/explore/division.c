//@ command = "nearmiss explore division.c --function share"
//@ paths = 2
// Nobody to share with, and a quotient that is too large, fail.
int share(int all, int heads)
{
    int each = all / heads; //~ error[division-by-zero] error[signed-overflow]
    if (each > 10)
        return 10;
    return each;
}
