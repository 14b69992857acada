//@ command = "nearmiss reach variable_is_input.c:11 --function f --global mode"
//@ verdict = "reached"
static int mode;

void set(int x) { mode = x; }

int f(int x)
{
    // What `set` may have left.
    if (mode == 3)
        return x;
    return 0;
}
