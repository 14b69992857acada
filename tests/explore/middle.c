//@ command = "nearmiss explore middle.c --function clamp"
//@ paths = 3
// A static function in the middle of a file that has a main of its own.
#include <stdio.h>

static int clamp(int value)
{
    if (value < -10)
        return -10;
    if (value > 10)
        return 10;
    return value;
}

int main(int argc, char **argv)
{
    printf("%d\n", clamp(argc));
    return argv[0][0] == 0;
}
