/* Processes, threads and signals. */
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "test.h"

ssize_t __nm_model_read(int, void *, size_t);
int __nm_model_fork(void);

static char input[8];

static void branch_on_first(uint64_t site)
{
    uint32_t label = label_of(input);
    uint32_t equal = binary(EQ, 8, label, 0, (uint8_t)input[0], 'x');
    __nm_branch(equal, input[0] == 'x', site);
}

static void *many(void *seed)
{
    for (uint32_t i = 0; i < 20000; i++) {
        uint32_t label = label_of(input + 1);
        uint32_t wide = __nm_cast(ZEXT | 8 << 8 | 32 << 16, label);
        uint32_t sum = binary(ADD, 32, wide, 0, (uint8_t)input[1], i + (uint32_t)(ADDRESS(seed) % 2));
        uint32_t value = (uint8_t)input[1] + i + (uint32_t)(ADDRESS(seed) % 2);
        uint32_t local = value;
        __nm_store(ADDRESS(&local) | 4ull << 56, sum, 0);
        sum = __nm_load(ADDRESS(&local) | 4ull << 56, local, 0);
        __nm_branch(binary(ULT, 32, sum, 0, value, 100), value < 100, i);
        __nm_clear(ADDRESS(&local), 4);
    }
    return NULL;
}

static volatile int ticks;

static void tick(int number)
{
    (void)number;
    ticks++;
    label_of(input);
    branch_on_first(99);
}

int main(int argc, char **argv)
{
    CHECK(argc > 1);
    if (!strcmp(argv[1], "after"))
        return 0;
    CHECK(__nm_model_read(0, input, 8) == 3);
    if (!strcmp(argv[1], "fork")) {
        int child = __nm_model_fork();
        if (child == 0) {
            CHECK(summary_of(input) == 0);
            CHECK(label_of(input) == 0);
            branch_on_first(1);
            pass(main, 5, 6, 7);
            __nm_enter(ADDRESS(main));
            CHECK(__nm_thread.callee == 0 && __nm_thread.arguments[0] == 0);
            exit(0);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
        branch_on_first(2);
    } else if (!strcmp(argv[1], "exec")) {
        execl(argv[0], argv[0], "after", NULL);
        return 1;
    } else if (!strcmp(argv[1], "threads")) {
        pthread_t threads[4];
        for (size_t i = 0; i < 4; i++)
            CHECK(!pthread_create(&threads[i], NULL, many, (void *)i));
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
    } else {
        signal(SIGALRM, tick);
        struct itimerval often = { { 0, 200 }, { 0, 200 } };
        setitimer(ITIMER_REAL, &often, NULL);
        while (ticks < 300)
            many(NULL);
        struct itimerval never = { { 0, 0 }, { 0, 0 } };
        setitimer(ITIMER_REAL, &never, NULL);
    }
    return 0;
}
