/* Says how the backup of a file is called. */
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    char name[64];
    if (argc != 2) {
        fprintf(stderr, "usage: backup FILE\n");
        return 2;
    }
    strcpy(name, argv[1]);
    strcat(name, ".bak");
    puts(name);
    return 0;
}
