#include <stdio.h>

void set(unsigned int i, unsigned int x);

int main(void)
{
    unsigned int input[2];
    if (fread(input, sizeof input, 1, stdin) != 1)
        return 2;
    if (input[1] > 0)
        set(input[0], input[1]);
    return 0;
}
