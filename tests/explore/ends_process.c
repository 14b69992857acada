//@ command = "nearmiss explore ends_process.c --function stop"
//@ paths = 3
#include <stdlib.h>

int stop(int code)
{
    if (code > 100)
        exit(3);
    if (code < 0)
        _Exit(4);
    return code;
}
