//@ command = "nearmiss explore qualified.c --function ready --size status=1"
//@ paths = 3
// Volatile memory is read twice, and is the same both times here: nobody else writes it.
int ready(const volatile unsigned *const status, const int wanted)
{
    if (*status != (unsigned)wanted)
        return 0;
    if (*status > 7)
        return 2;
    return 1;
}
