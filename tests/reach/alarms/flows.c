/* clang's analyser has an alarm in each of these functions, with a path that leads to it. */

/* For small numbers x is never written. */
int unwritten(int a)
{
    int x;
    if (a > 3)
        x = a;
    if (a < 100) {
        if (x)
            return 1;
    }
    return 2;
}

/* The memory has no type: some is there all the same. */
int untyped(void *memory, int n)
{
    unsigned char *bytes = memory;
    int sum = bytes[0];
    if (n == 0)
        sum++;
    return sum / n;
}

/* What it is given is memory, and what the shown path reads was never written. */
int unwritten_memory(const int *from, int n)
{
    int copy[4];
    int i;
    for (i = 0; i < n; i++)
        copy[i] = from[i];
    if (copy[0])
        return 1;
    return 2;
}
