//@ command = "nearmiss explore index_into_neighbour.c --function pick --size t=4 --size u=4 --range i=0..100 --range j=0..100"
//@ paths = 3
// The first j that is tried leads from u into t, which is no right element of u.
int pick(const int *t, const int *u, long i, long j)
{
    if (t[i] > 3) //~ error[out-of-bounds-read]
        return 1;
    if (u[j - 10] > 4) //~ error[out-of-bounds-read]
        return 2;
    return 0;
}
