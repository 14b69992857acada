/* The real functions that handed.c calls, and its table of threads: compiled by plain clang, and
 * part of a program only if it has threads or changes its environment.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>

#pragma GCC visibility push(hidden)

struct nm_thread {
    void *(*function)(void *);
    void *argument, *result;
    pthread_t self;
    int used;
};

#define MOST_THREADS 1024
static struct nm_thread threads[MOST_THREADS];

/* A free row; NULL: there are too many threads. */
struct nm_thread *__nm_thread_row(void)
{
    for (int i = 0; i < MOST_THREADS; i++)
        if (__atomic_exchange_n(&threads[i].used, 1, __ATOMIC_ACQ_REL) == 0) {
            threads[i].self = 0;
            return &threads[i];
        }
    return NULL;
}

struct nm_thread *__nm_thread_of(pthread_t thread)
{
    for (int i = 0; i < MOST_THREADS; i++)
        if (threads[i].used && threads[i].self == thread)
            return &threads[i];
    return NULL;
}

int __nm_real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                             void *(*function)(void *), void *argument)
{
    return pthread_create(thread, attributes, function, argument);
}

int __nm_real_pthread_join(pthread_t thread, void **result)
{
    return pthread_join(thread, result);
}

_Noreturn void __nm_real_pthread_exit(void *result)
{
    pthread_exit(result);
}

pthread_t __nm_real_pthread_self(void)
{
    return pthread_self();
}

int __nm_real_setenv(const char *name, const char *value, int replace)
{
    return setenv(name, value, replace);
}

int __nm_real_putenv(char *string)
{
    return putenv(string);
}
