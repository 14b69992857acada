//@ command = "nearmiss reach thread_ends.c:19 --function f"
//@ verdict = "reached"
#include <pthread.h>
static int shared;
static void *work(void *p)
{
    if (shared != 5)
        pthread_exit(0);
    return p;
}
int f(int x)
{
    pthread_t t;
    shared = x;
    if (pthread_create(&t, 0, work, 0))
        return -1;
    pthread_join(t, 0);
    if (x == 7)
        return 1;
    return 0;
}
