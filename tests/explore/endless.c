//@ command = "nearmiss explore endless.c --function steps --run-time 200ms --max-paths 12"
//@ incomplete = "did not end in time"
// Most inputs never end: their runs are followed for a while only.
unsigned steps(unsigned n)
{
    volatile unsigned count = 0;
    while (n != 1) {
        if (n % 2)
            n = 5 * n + 1;
        else
            n = n / 2;
        count++;
    }
    return count;
}
