//@ command = "nearmiss explore index_far_away.c --function pick --size t=5..6"
//@ incomplete = "only some values"
// There are three paths, but an index outside belongs to no object: it is fixed, and others are tried.
int pick(const int *t, int i)
{
    if (i <= 3)
        return 0;
    if (t[i] > 0) //~ error[out-of-bounds-read]
        return 1;
    return 2;
}
