// Ungetc then ftell.
#include <stdio.h>
int main(void)
{
    FILE *f = fopen("conftest.c", "r");
    getc(f);
    getc(f);
    ungetc('@', f);
    return ftell(f) != 1 || getc(f) != '@';
}
