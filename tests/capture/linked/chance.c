/* What differs from run to run, and programs that are started. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

int main(int count, char **arguments)
{
    struct timespec precise;
    struct timeval now;
    unsigned char bytes[4], others[4];
    if (count > 1 && strcmp(arguments[1], "become") == 0)
        execl("/bin/true", "true", "1", "2", "3", "4", "5", (char *)NULL);
    if (count > 1 && strcmp(arguments[1], "start") == 0)
        return system("exit 0");
    time(NULL);
    clock_gettime(CLOCK_MONOTONIC, &precise);
    gettimeofday(&now, NULL);
    getrandom(bytes, sizeof bytes, 0);
    int fd = open("/dev/urandom", O_RDONLY);
    read(fd, others, sizeof others);
    close(fd);
    syscall(SYS_getrandom, others, sizeof others, 0);
    printf("%02x%02x%02x%02x\n", bytes[0], bytes[1], bytes[2], bytes[3]);
    return 0;
}
