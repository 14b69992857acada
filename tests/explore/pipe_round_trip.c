//@ command = "nearmiss explore pipe_round_trip.c --function through"
//@ paths = 2
// What comes out of the own pipe is what went in.
#include <unistd.h>

int through(int x)
{
    int ends[2], y = 0;
    if (pipe(ends) != 0)
        return -1;
    if (write(ends[1], &x, sizeof x) != sizeof x || read(ends[0], &y, sizeof y) != sizeof y)
        return -1;
    return y == 42 ? 1 : 0;
}
