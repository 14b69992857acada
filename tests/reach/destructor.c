//@ command = "nearmiss reach destructor.c:9 --function f"
//@ verdict = "unknown"
//@ reason = "destructor"
static int last;
int f(int x) { last = x; return x; }
__attribute__((destructor)) static void end(void)
{
    if (last == 77)
        last = 0;
}
