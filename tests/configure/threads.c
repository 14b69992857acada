// Threads.
// options: -pthread
#include <pthread.h>
static void *f(void *p)
{
    return p;
}
int main(void)
{
    pthread_t t;
    int x;
    void *r;
    return pthread_create(&t, 0, f, &x) || pthread_join(t, &r) || r != &x;
}
