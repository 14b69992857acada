// Fflush of an input.
#include <stdio.h>
#include <unistd.h>
int main(void)
{
    FILE *f = fopen("conftest.c", "r");
    int c = fgetc(f);
    if (c < 0 || fflush(f)) return 1;
    return lseek(fileno(f), 0, SEEK_CUR) != 1;
}
