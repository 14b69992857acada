/* A program with functions of libc's names, which take and do something else. */
#define getline libc_getline
#include <stdio.h>
#undef getline

int getline(char *line, int most);
int open(const char *what);
int time(int unit);

int main(void)
{
    char line[100];
    int bytes = 0;
    for (int got; (got = getline(line, sizeof line)) > 0;)
        bytes += got;
    printf("%d %d %d\n", bytes, open("x"), time(60));
    return fclose(fopen("in", "r"));
}
