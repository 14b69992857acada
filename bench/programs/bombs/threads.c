// Threads.
#include "bomb.h"
#include <pthread.h>

static void *twice(void *p) { *(int *)p *= 2; return NULL; }
static void *plus_five(void *p) { *(int *)p += 5; return NULL; }

static int run(void *(*work)(void *), int x)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, &x))
        return 0;
    pthread_join(thread, NULL);
    return x;
}

int one_thread(const char *s) { return run(twice, s[0]) == 214; }

int two_threads(const char *s) { return run(plus_five, run(twice, s[0] - '0')) == 19; }

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int shared;

static void *add_shared(void *p)
{
    pthread_mutex_lock(&lock);
    shared += *(int *)p;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int under_a_lock(const char *s)
{
    shared = 100;
    run(add_shared, s[0]);
    run(add_shared, s[1]);
    return shared == 323;
}
