//@ command = "nearmiss explore null_forgotten.c --function sign --null number"
//@ paths = 2
int sign(const int *number)
{
    if (*number < 0) //~ error[null-dereference]
        return -1;
    return 1;
}
