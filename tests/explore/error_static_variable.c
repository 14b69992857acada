//@ command = "nearmiss explore error_static_variable.c --function next --global next.total"
//@ error = ["`--global next.total`: it is a static variable inside `next`", "move it before the function"]
// Nothing outside a function can name its variables.
int next(int step)
{
    static int total;
    if (total > 100)
        return -1;
    return total += step;
}
