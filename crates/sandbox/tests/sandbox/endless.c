// Loops that never end, and loops that only look so. Each is a name.
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t has_come;
static void come(int signal) { has_come = signal; }

// A parser that does not advance, with work and memory in each turn.
static int parse(const char *text) {
    size_t at = 0, words = 0;
    while (text[at] != 0) {
        char *word = malloc(strlen(text) + 1);
        strcpy(word, text + at);
        words = strlen(word);
        if (*word != '%')
            at++;
        free(word);
    }
    return (int)words;
}

static void count(void) {
    for (volatile uint64_t i = 0; i < UINT64_MAX; i++)
        ;
}

static void seconds(void) {
    time_t start = time(NULL);
    while (time(NULL) - start < 100000)
        ;
}

static void alarmed(void) {
    struct itimerval later = {{0, 0}, {100, 0}};
    signal(SIGALRM, come);
    setitimer(ITIMER_REAL, &later, NULL);
    while (!has_come)
        ;
}

static void shared(void) {
    volatile int *flag = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (fork() == 0) {
        sleep(100);
        *flag = 1;
        _exit(0);
    }
    while (!*flag)
        ;
}

static void ask(void) {
    int number = 0;
    while (scanf("%d", &number) != 1 && number == 0) {
        clearerr(stdin);
        fprintf(stderr, "A number, please: ");
    }
}

static void polling(void) {
    int ends[2];
    char byte;
    if (pipe2(ends, 04000) == 0)
        while (read(ends[0], &byte, 1) != 1)
            ;
}

static double series(void) {
    volatile double sum = 0;
    for (double term = 1;; term /= 2)
        sum += term;
    return sum;
}

int main(int argument_count, char **arguments) {
    const char *name = argument_count > 1 ? arguments[1] : "";
#define LOOP(loop, call) \
    if (!strcmp(name, loop)) { \
        call; \
        return 0; \
    }
    LOOP("tight", for (;;);)
    LOOP("parse", parse("12%4"))
    LOOP("ask", ask())
    LOOP("series", series())
    LOOP("count", count())
    LOOP("seconds", seconds())
    LOOP("alarmed", alarmed())
    LOOP("shared", shared())
    LOOP("polling", polling())
    LOOP("sleep", for (;;) usleep(1))
    LOOP("end", parse("1234"))
    return 1;
}
