//@ command = "nearmiss explore precondition_nobody.c --function f --pre f_pre"
//@ paths = 0
// No input is admissible.
int f(int x)
{
    return x > 0;
}

int f_pre(int x)
{
    return x > 5 && x < 3;
}
