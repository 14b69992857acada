//@ command = "nearmiss explore division_overflow.c --function share"
//@ paths = 2
// Two failures of one division: a zero, and a quotient that is too large.
int share(int all, int heads)
{
    int each = all / heads; //~ error[division-by-zero]
    //~^ error[signed-overflow] @gap(its test is there, but it is no finding beside the other of this place)
    if (each > 10)
        return 10;
    return each;
}
