//@ command = "nearmiss reach volatile_keeps.c:8 --function f"
//@ verdict = "infeasible"
//@ assumed = "port"
static volatile int port;
int f(int x)
{
    if (port == 3 && x == 5)
        return 1;
    return 0;
}
