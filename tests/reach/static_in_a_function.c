//@ command = "nearmiss reach static_in_a_function.c:9 --function f"
//@ verdict = "infeasible"
//@ assumed = "remember` keeps the value it starts with"
static int g(void) { static int remember; return remember++; }
int f(int x)
{
    g();
    if (g() == 7)
        return 1;
    return x;
}
