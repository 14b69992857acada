#include <stdio.h>
#include <stdlib.h>

void out_of_memory(void)
{
    fputs("out of memory\n", stderr);
    exit(1);
}
