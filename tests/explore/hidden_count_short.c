//@ command = "nearmiss explore hidden_count_short.c --function second --size t=1..3"
//@ paths = 2
int second(const int *t)
{
    if (t[1] > 0) //~ error[out-of-bounds-read]
        return 1;
    return 0;
}
