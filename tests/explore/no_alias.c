//@ command = "nearmiss explore no_alias.c --function store"
//@ paths = 1
// Pointers are to different things where nothing else is said.
int store(int *p, int *q)
{
    *p = 1;
    *q = 2;
    if (*p == 1)
        return 0;
    return 1;
}
