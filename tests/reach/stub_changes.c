//@ command = "nearmiss reach stub_changes.c:10 --function f"
//@ verdict = "infeasible"
//@ assumed = "`g` is a stub that returns: it changes nothing"
int state;
int f(int (*g)(void))
{
    state = 4;
    g();
    if (state != 4)
        return 1;
    return 0;
}
