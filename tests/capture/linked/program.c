/* A program with a library of its own: both read the same standard input, and both ask for the time,
 * also in a child. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int library_line(char *to, int size);
long library_time(void);
int library_read(const char *path);

int main(void)
{
    char line[100], other[100];
    int status;
    fgets(line, sizeof line, stdin);
    library_line(other, sizeof other);
    printf("%s%s", line, other);
    fflush(stdout);
    fclose(fopen("of-program", "r"));
    library_read("of-library");
    library_time();
    time(NULL);
    if (fork() == 0) {
        library_read("of-child");
        library_time();
        time(NULL);
        exit(3);
    }
    wait(&status);
    return WEXITSTATUS(status) == 3 ? 5 : 9;
}
