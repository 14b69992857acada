//@ command = "nearmiss explore state_of_file.c --function next"
//@ paths = 2
// What a call leaves in static variables is not there in the next test.
int next(int step)
{
    static int total, calls;
    if (calls++ > 0)
        return -1;
    if (step > 0)
        total++;
    return total;
}
