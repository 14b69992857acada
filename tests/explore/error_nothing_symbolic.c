//@ command = "nearmiss explore error_nothing_symbolic.c"
//@ error = ["nothing is symbolic", "--function"]
// A program without a harness has one path, which says nothing.
#include <stdlib.h>

int main(int argc, char **argv)
{
    return argc > 1 && atoi(argv[1]) == 7;
}
