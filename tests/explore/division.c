//@ command = "nearmiss explore division.c --function share --range all=0..1000"
//@ paths = 2
// Nobody to share with is a failure, also where it is what is tried first.
int share(int all, int heads)
{
    int each = all / heads; //~ error[division-by-zero]
    if (each > 10)
        return 10;
    return each;
}
