/* A program that is forked for every run (libc/main.c): the first argument says what a run does, BEFORE
 * what is done before `main`. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <unistd.h>

static int calls;

static void *wait_for_ever(void *nothing)
{
    for (;;)
        pause();
    return nothing;
}

__attribute__((constructor)) static void before(int count)
{
    const char *what = getenv("BEFORE") != NULL ? getenv("BEFORE") : "";
    pthread_t thread;
    calls = count;
    if (strcmp(what, "thread") == 0)
        pthread_create(&thread, NULL, wait_for_ever, NULL);
    else if (strcmp(what, "open") == 0)
        open("/dev/null", O_RDONLY);
    else if (strcmp(what, "say") == 0)
        write(1, "early", 5);
    else if (strcmp(what, "write") == 0)
        close(open("early", O_CREAT | O_WRONLY, 0600));
    else if (strcmp(what, "hang") == 0)
        abort();
}

static void leave(const char *what)
{
    if (strcmp(what, "file") == 0)
        close(open("left", O_CREAT | O_WRONLY, 0600));
    else if (strcmp(what, "change") == 0)
        close(open("input", O_TRUNC | O_WRONLY));
    else if (strcmp(what, "memory") == 0)
        shmget(17, 4096, IPC_CREAT | 0600);
    else if (strcmp(what, "process") == 0 && fork() == 0)
        wait_for_ever(NULL);
    else if (strcmp(what, "all") == 0)
        kill(-1, SIGKILL);
    else if (strcmp(what, "time") == 0)
        wait_for_ever(NULL);
}

int main(int count, char **arguments)
{
    char input[64] = "", file[64] = "";
    int fd = open("input", O_RDONLY);
    if (fd >= 0 && read(fd, file, sizeof file - 1) < 0)
        return 1;
    close(fd);
    if (fgets(input, sizeof input, stdin) == NULL)
        input[0] = 0;
    printf("%d:", count);
    for (int i = 1; i < count; i++)
        printf(" %s", arguments[i]);
    printf(" [%s] [%s] %d %d %d %d %s\n", input, file, calls++, fd, (int)(getppid() == 1),
           (int)(getsid(0) == getpid()), getenv("NEARMISS_FORKS") == NULL ? "clean" : "asked");
    fflush(stdout);
    if (count > 1)
        leave(arguments[1]);
    return count;
}
