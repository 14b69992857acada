//@ command = "nearmiss reach failed_before.c:11 --function f"
//@ verdict = "infeasible"
//@ assumed = "a run failed before it came to the target, at failed_before.c:8"
struct shown { int a; };
struct whole { struct shown shown; int mode; };
int f(struct shown *shown)
{
    int mode = ((struct whole *)shown)->mode;
    // Reached only with a `struct whole` behind the pointer.
    if (mode == 3)
        return 1;
    return 0;
}
