//@ command = "nearmiss explore recursion_bound.c --function digits --recursion 3"
//@ paths = 3
//@ incomplete = "recursi"
int digits(unsigned number)
{
    if (number < 10)
        return 1;
    return 1 + digits(number / 10);
}
