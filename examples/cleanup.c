/* Removes one of two files, by number: not a program to try invented inputs on without care. */
#include <stdio.h>

static const char *const names[] = {"scratch.txt", "notes.txt"};

int main(void)
{
    int number = getchar() - '0';
    if (number & ~1)
        return 1;
    remove(names[number]);
    printf("%d\n", 100 / (1 - number));
    return 0;
}
