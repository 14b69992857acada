//@ command = "nearmiss explore error_no_parameter.c --function f --size u=3"
//@ error = ["--size u=3", "t"]
int f(const int *t)
{
    return t[0];
}
