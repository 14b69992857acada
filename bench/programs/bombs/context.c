// Values that come from the machine or go through it.
#include "bomb.h"
#include <fcntl.h>
#include <sys/wait.h>

int name_of_file(const char *s)
{
    FILE *file = fopen(s, "r");
    if (file)
        fclose(file);
    return file != NULL;
}

int own_number(const char *s) { return getpid() % 60 == s[0] - '0'; }

int through_file(const char *s)
{
    int x = 0;
    FILE *file = fopen("bomb.tmp", "w");
    if (!file)
        return 0;
    fprintf(file, "%d\n", s[0] - 'a');
    fclose(file);
    file = fopen("bomb.tmp", "r");
    if (fscanf(file, "%d", &x) != 1)
        x = 0;
    fclose(file);
    remove("bomb.tmp");
    return x == 17;
}

int through_descriptor(const char *s)
{
    int x = s[0] * 2, y = 0, fd = open("bomb.tmp", O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, &x, sizeof x) != sizeof x || lseek(fd, 0, SEEK_SET) != 0)
        return 0;
    int hit = read(fd, &y, sizeof y) == sizeof y && y == 202;
    close(fd);
    return hit;
}

int through_shell(const char *s)
{
    char command[64], line[64] = "";
    snprintf(command, sizeof command, "echo %d", s[0] - '0');
    FILE *pipe = popen(command, "r");
    if (pipe && fgets(line, sizeof line, pipe))
        pclose(pipe);
    return atoi(line) == 5;
}

int through_pipe(const char *s)
{
    int ends[2];
    char c = 0;
    if (pipe(ends) || write(ends[1], s, 1) != 1 || read(ends[0], &c, 1) != 1)
        return 0;
    return c == 'w';
}

int through_child(const char *s)
{
    int ends[2];
    char c = 0;
    if (pipe(ends))
        return 0;
    if (fork() == 0) {
        c = s[0] ^ 1;
        _exit(write(ends[1], &c, 1) != 1);
    }
    if (read(ends[0], &c, 1) != 1)
        return 0;
    wait(NULL);
    return c == 'k';
}

int exit_of_child(const char *s)
{
    int status = 0;
    if (fork() == 0)
        _exit(s[0] == '!' ? 3 : 0);
    wait(&status);
    return WEXITSTATUS(status) == 3;
}

int through_assembly(const char *s)
{
    long x = s[0], y = 0;
    __asm__ volatile("mov %1, %0" : "=r"(y) : "r"(x));
    return y == 'm';
}
