//@ command = "nearmiss explore precondition_fails.c --function size --pre small --range value=0..2147483647"
//@ paths = 1
// Twice a large number is no number: where the precondition itself fails, it does not accept.
int small(int value)
{
    return value + value < 10;
}

int size(int value)
{
    if (value > 2000000000)
        return 2;
    if (value > 7)
        return 1;
    return 0;
}
