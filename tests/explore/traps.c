//@ command = "nearmiss explore traps.c --function check"
//@ paths = 4
// Two traps, one of them behind a switch; what is left returns in two ways.
int check(int a, int b)
{
    if (a == 0)
        __builtin_trap(); //~ error[abort]
    switch (b) {
    case 3:
        __builtin_trap(); //~ error[abort]
    case 4:
        return 1;
    default:
        return 0;
    }
}
