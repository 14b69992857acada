//@ command = "nearmiss explore loop_unbounded.c --function digits"
//@ paths = 11
// From no digit to ten.
int digits(unsigned number)
{
    int digits = 0;
    while (number != 0) {
        number /= 10;
        digits++;
    }
    return digits;
}
