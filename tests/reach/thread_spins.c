//@ command = "nearmiss reach thread_spins.c:18 --function f"
//@ verdict = "reached"
#include <pthread.h>
static volatile int flag; static int given;
static void *work(void *p)
{
    if (given == 5) { flag = 1; for (;;) ; }
    flag = 2;
    return p;
}
int f(int x)
{
    pthread_t t;
    given = x;
    if (pthread_create(&t, 0, work, 0)) return -1;
    while (!flag) ;
    if (flag == 1)
        return 1;
    return 0;
}
