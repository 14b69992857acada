//@ command = "nearmiss explore precondition_nobody.c --function f --pre f_pre"
//@ error = ["f_pre accepts no input"]
// No input is admissible.
int f(int x)
{
    return x > 0;
}

int f_pre(int x)
{
    return x > 5 && x < 3;
}
