//@ command = "nearmiss reach variable_changes.c:12 --function f"
//@ verdict = "infeasible"
//@ assumed = "`mode` keeps the value it starts with"
static int mode;

void set(int x) { mode = x; }

int f(int x)
{
    // Only until `set` is called.
    if (mode == 3)
        return x;
    return 0;
}
