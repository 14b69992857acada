//@ command = "nearmiss reach stub_calls.c:9 --function f"
//@ verdict = "infeasible"
//@ assumed = "`g` is a stub that returns: it changes nothing, and gives something of its own in the first 3 calls only"
static int calls;
int f(int (*g)(void))
{
    calls = 0; g(); g(); g(); int a = g(), b = g();
    if (a != b)
        return 1;
    return 0;
}
