//@ command = "nearmiss explore loop_bound.c --function digits --loops 3"
//@ paths = 4
//@ incomplete = "loop"
int digits(unsigned number)
{
    int digits = 0;
    while (number != 0) {
        number /= 10;
        digits++;
    }
    return digits;
}
