//@ command = "nearmiss explore division_first.c --function share --range all=0..1000"
//@ paths = 2
// The input that is tried first divides by zero, which ends the program: the check is recorded before, and with it
// how to avoid it.
int share(int all, int heads)
{
    int each = all / heads; //~ error[division-by-zero]
    if (each > 10)
        return 10;
    return each;
}
