//@ command = "nearmiss explore error_precondition.c --function f --pre f_pre"
//@ error = ["f_pre", "limit"]
// A parameter that the function does not have.
int f(int x)
{
    return x > 0;
}

int f_pre(int x, int limit)
{
    return x < limit;
}
