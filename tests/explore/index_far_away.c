//@ command = "nearmiss explore index_far_away.c --function pick --size t=5..6"
//@ paths = 3
// The index that is tried first behind the first decision belongs to no object: to that of its pointer, then.
int pick(const int *t, int i)
{
    if (i <= 3)
        return 0;
    if (t[i] > 0) //~ error[out-of-bounds-read]
        return 1;
    return 2;
}
