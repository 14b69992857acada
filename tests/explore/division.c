//@ command = "nearmiss explore division.c --function share --range all=0..1000 --range others=-10..1000"
//@ paths = 2
// Nobody to share with is a failure.
int share(int all, int others)
{
    int each = all / (others + 1); //~ error[division-by-zero]
    if (each > 10)
        return 10;
    return each;
}
