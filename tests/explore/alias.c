//@ command = "nearmiss explore alias.c --function store --alias q=p"
//@ paths = 2
int store(int *p, int *q)
{
    *p = 1;
    *q = 2;
    if (*p == 1)
        return 0;
    return 1;
}
