//@ command = "nearmiss explore read_before_write.c --function order --range i=0..3 --range j=0..3"
//@ paths = 2
// What is read first is never 1, though by the time of the branch there is a 1 in the table.
int order(unsigned i, unsigned j)
{
    unsigned char t[4] = {0};
    unsigned char before = t[i];
    t[j] = 1;
    unsigned char after = t[i];
    if (before == 1)
        return 0;
    return after == 1 ? 1 : 2;
}
