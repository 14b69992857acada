//@ command = "nearmiss explore matrix.c --function trace_sign --size m=2"
//@ paths = 3
int trace_sign(const int m[][2])
{
    long trace = (long)m[0][0] + m[1][1];
    if (trace < 0)
        return -1;
    if (trace > 0)
        return 1;
    return 0;
}
