//@ command = "nearmiss explore null_pointer.c --function sign --null number"
//@ paths = 3
int sign(const int *number)
{
    if (!number)
        return 0;
    if (*number < 0)
        return -1;
    return 1;
}
