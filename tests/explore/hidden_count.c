//@ command = "nearmiss explore hidden_count.c --function second --size t=2..3"
//@ paths = 2
int second(const int *t)
{
    if (t[1] > 0)
        return 1;
    return 0;
}
