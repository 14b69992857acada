// What all bombs share. `BOMB` is the name of one of the functions of a file: it is called with the first
// argument, and what is to be found is an argument for which it does not return 0.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int BOMB(const char *s);

int main(int argc, char **argv)
{
    if (argc == 2 && BOMB(argv[1]))
        abort();
    return 0;
}
