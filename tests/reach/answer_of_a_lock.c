//@ command = "nearmiss reach answer_of_a_lock.c:9 --function f"
//@ verdict = "infeasible"
//@ assumed = "`pthread_mutex_lock` answers as it does here"
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int f(int x)
{
    if (pthread_mutex_lock(&m) != 0)
        return 1;
    pthread_mutex_unlock(&m);
    return x;
}
