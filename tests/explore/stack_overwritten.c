//@ command = "nearmiss explore stack_overwritten.c --function put --range index=0..60"
//@ paths = 2
// What lies behind the array is the frame itself: the run dies of it before it can say why.
int put(int index, long value)
{
    long words[4] = {0};
    long *cursor = words;
    cursor[index] = value; //~ error[out-of-bounds-write]
    if (words[1] == 5)
        return 1;
    return 0;
}
