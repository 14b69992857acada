//@ command = "nearmiss reach via_in_recursion.c:5 --function f --via via_in_recursion.c:7 --via via_in_recursion.c:7"
//@ verdict = "infeasible"
static int g(int n) {
    if (n == 0)
        return 0;
    int m = g(n - 1);
    return n + m; }
int f(int n) { return n < 0 || n > 1 ? 0 : g(n) + g(1); }
