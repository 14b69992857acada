#include <stdio.h>
#include <stdlib.h>

/* Only one of several ways leaves x unwritten, and it is not the first that is found. */
int other_way(int kind, int n)
{
    int x;
    if (n == 0)
        x = 1;
    else if (kind == 7)
        x = 2;
    else if (kind != 9 || n != 3)
        x = n;
    if (x > 5)
        return 1;
    return 0;
}

/* x is written on all of them. */
int every_way(int kind, int n)
{
    int x;
    if (n == 0)
        x = 1;
    else if (kind == 7)
        x = 2;
    else
        x = n;
    if (x > 5)
        return 1;
    return 0;
}

static int missing(void)
{
    exit(2);
}

int value(const char *word, const char *next)
{
    const char *start = word;
    if (*start == 0) {
        start = next;
        if (!start)
            missing();
    }
    return *start;
}

int first_of_command(const char *name, const char *word, const char *next)
{
    FILE *file = popen(name, "r");
    int sum = 0;
    if (file) {
        sum = getc(file);
        pclose(file);
    }
    return sum == 'x' ? 0 : value(word, next);
}
