//@ command = "nearmiss reach deep --function f --when 'depth == 3' function_is_target.c"
//@ verdict = "reached"
static int deep(int depth)
{
    return depth * 2;
}

int f(int a, int b)
{
    int depth = 0;
    if (a > b)
        depth++;
    if (a > 2 * b)
        depth++;
    if (b > 1000)
        depth++;
    return depth > 1 ? deep(depth) : 0;
}
