//@ command = "nearmiss explore crash_first.c --function pick --size t=1 --range i=0..10"
//@ paths = 3
// Where i is not 7 there is no memory, and the program dies: the check is recorded before, and says what it dies of.
int pick(const int *t, long i)
{
    if (i == 0)
        return 0;
    return t[(i - 7) * 500000000000] > 0 ? 1 : 2; //~ error[out-of-bounds-read]
}
