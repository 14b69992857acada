//@ command = "nearmiss reach rare --function f through_pointer.c"
//@ verdict = "reached"
static int common(int x) { return x; }
static int rare(int x) { return -x; }
static int (*const table[])(int) = { common, common, rare };

int f(unsigned char which, int x)
{
    if (which > 2)
        return 0;
    return table[which](x);
}
