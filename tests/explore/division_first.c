//@ command = "nearmiss explore division_first.c --function share --range all=0..1000"
//@ paths = 0
//@ incomplete = "died"
// A gap: the input that is tried first divides by zero. The program dies before the check is recorded that would
// say how to avoid it, so the two paths behind it are missed; at least the report says so.
int share(int all, int heads)
{
    int each = all / heads; //~ error[division-by-zero]
    if (each > 10)
        return 10;
    return each;
}
