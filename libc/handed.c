/* Models of functions that keep a value and hand it over later: <pthread.h>, and the environment
 * of <stdlib.h>.
 */
#include "model.h"

#include <pthread.h>

#pragma GCC visibility push(hidden)

struct nm_thread *__nm_thread_row(void);
struct nm_thread *__nm_thread_of(pthread_t thread);
int __nm_real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                             void *(*function)(void *), void *argument);
int __nm_real_pthread_join(pthread_t thread, void **result);
_Noreturn void __nm_real_pthread_exit(void *result);
pthread_t __nm_real_pthread_self(void);
int __nm_real_setenv(const char *name, const char *value, int replace);
int __nm_real_putenv(char *string);

/* A thread from its creation until it is joined: where its values lie with their labels. */
struct nm_thread {
    void *(*function)(void *);
    void *argument, *result;
    pthread_t self;
    int used;
};

static void *begin(void *argument)
{
    struct nm_thread *row = argument;
    row->self = __nm_real_pthread_self();
    row->result = row->function(row->argument);
    return row->result;
}

int NM_MODEL(pthread_create)(pthread_t *thread, const pthread_attr_t *attributes,
                             void *(*function)(void *), void *argument)
{
    struct nm_thread *row = nm_records() ? __nm_thread_row() : NULL;
    if (row == NULL)
        return __nm_real_pthread_create(thread, attributes, function, argument);
    row->function = function;
    row->argument = argument;
    row->result = NULL;
    int error = __nm_real_pthread_create(thread, attributes, begin, row);
    if (error != 0)
        row->used = 0;
    else
        row->self = *thread;
    return error;
}

void NM_MODEL(pthread_exit)(void *result)
{
    struct nm_thread *row = nm_records() ? __nm_thread_of(__nm_real_pthread_self()) : NULL;
    if (row != NULL)
        row->result = result;
    __nm_real_pthread_exit((void *)__nm_recorded_pointer(result));
}

int NM_MODEL(pthread_join)(pthread_t thread, void **result)
{
    if (!nm_records())
        return __nm_real_pthread_join(thread, result);
    struct nm_thread *row = __nm_thread_of(thread);
    void *given = NULL;
    int error = __nm_real_pthread_join(thread, &given);
    if (error != 0)
        return error;
    if (row != NULL && __nm_recorded_pointer(row->result) == given)
        given = row->result;
    if (row != NULL)
        row->used = 0;
    if (result != NULL)
        *result = given;
    return 0;
}

/* The bytes of a name keep their values: another name would be another variable. */
static void fix_name(const char *name, size_t size)
{
    for (size_t i = 0; i < size; i++)
        __nm_settle((size_t)name[i]);
}

int NM_MODEL(setenv)(const char *name, const char *value, int replace)
{
    if (!nm_records())
        return __nm_real_setenv(name, value, replace);
    __nm_terminated(name);
    __nm_terminated(value);
    name = __nm_recorded_pointer(name);
    value = __nm_recorded_pointer(value);
    fix_name(name, __nm_real_strlen(name));
    bool is_kept = !replace && __nm_real_getenv(name) != NULL;
    int error = __nm_real_setenv(name, value, replace);
    char *copy = error == 0 && !is_kept ? __nm_real_getenv(name) : NULL;
    if (copy != NULL) {
        __nm_move_labels(copy, value, __nm_real_strlen(value) + 1);
        __nm_in_environment(copy, __nm_real_strlen(copy));
    }
    return error;
}

/* The string itself becomes part of the environment, with its labels. */
int NM_MODEL(putenv)(char *string)
{
    if (!nm_records())
        return __nm_real_putenv(string);
    __nm_terminated(string);
    string = (char *)__nm_recorded_pointer(string);
    const char *end = __nm_real_strchrnul(string, '=');
    fix_name(string, (size_t)(end - string));
    __nm_in_environment(string, __nm_real_strlen(string));
    return __nm_real_putenv(string);
}
