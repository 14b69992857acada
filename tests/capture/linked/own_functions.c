/* The functions of own.c. */
#define getline libc_getline
#include <stdio.h>
#undef getline

int getline(char *line, int most)
{
    int byte = 0, size = 0;
    while (size < most - 1 && byte != '\n' && (byte = getchar()) != EOF)
        line[size++] = (char)byte;
    line[size] = 0;
    return size;
}

int open(const char *what)
{
    return what[0];
}

int time(int unit)
{
    return unit * 2;
}
