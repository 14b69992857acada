//@ command = "nearmiss explore function_pointer.c --function rises"
//@ paths = 3
// A stub stands for the function; what it gives back is an input.
int rises(int (*measure)(int), int from)
{
    int first = measure(from), second = measure(0);
    if (first < second)
        return 1;
    if (first == second)
        return 0;
    return -1;
}
