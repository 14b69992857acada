/* Tests of Criterion. It starts the program once more for each of them, by ways that leave the sandbox's run; so in a variant
 * whose calls are listed or given they are run here, one after another, instead of `main`.
 *
 * Test code lists its tests in a section (`criterion/internal/test.h`), and calls the functions below around and inside
 * of them. They stand before those of the shared library because they are part of the program. What is expected to end the
 * process, and what has parameters, is left out.
 */
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "calls.h"

struct data {
    int sentinel, compiler, language, kind;
    void *(*parameters)(void);
    const char *identifier, *file;
    unsigned line;
    void (*init)(void), (*fini)(void);
    int signal, exit_code;
    bool disabled;
};

struct test {
    const char *name, *suite;
    void (*run)(void);
    const struct data *data;
};

struct suite {
    const char *name;
    const struct data *data;
};

extern const struct test *const __start_cr_tst[] __attribute__((weak)), *const __stop_cr_tst[] __attribute__((weak));
extern const struct suite *const __start_cr_sts[] __attribute__((weak)), *const __stop_cr_sts[] __attribute__((weak));
extern void __nm_test_failed(void);

/* The data of the test and of its suite. */
static const struct data *own, *common;
static bool is_under_way;
static jmp_buf end;

static const struct data *data_of_suite(const char *name)
{
    for (const struct suite *const *at = __start_cr_sts; at < __stop_cr_sts; at++)
        if (*at != NULL && strcmp((*at)->name, name) == 0)
            return (*at)->data;
    return NULL;
}

static bool is_plain(const struct data *data)
{
    return data == NULL
        || (data->kind == 0 && data->parameters == NULL && data->signal == 0 && data->exit_code == 0 && !data->disabled);
}

/* Runs all tests, if the program has some and its calls are wanted. */
bool __nm_call_tests(void)
{
    if (__start_cr_tst == __stop_cr_tst)
        return false;
    if (__nm_calls_state == UNKNOWN)
        __nm_calls_start();
    if (__nm_calls_state != LISTING && __nm_calls_state != GIVING)
        return false;
    for (const struct test *const *at = __start_cr_tst; at < __stop_cr_tst; at++) {
        const struct test *test = *at;
        common = test != NULL ? data_of_suite(test->suite) : NULL;
        if (test == NULL || !is_plain(test->data) || !is_plain(common))
            continue;
        own = test->data;
        test->run();
    }
    return true;
}

static void run(void (*function)(void))
{
    is_under_way = true;
    if (function != NULL && setjmp(end) == 0)
        function();
    is_under_way = false;
}

static void leave(void)
{
    __nm_test_failed();
    if (is_under_way)
        longjmp(end, 1);
}

void criterion_internal_test_setup(void)
{
    run(common != NULL ? common->init : NULL);
    run(own != NULL ? own->init : NULL);
}

void criterion_internal_test_main(void (*function)(void))
{
    run(function);
}

void criterion_internal_test_teardown(void)
{
    run(own != NULL ? own->fini : NULL);
    run(common != NULL ? common->fini : NULL);
}

void criterion_send_assert(void *outcome)
{
    (void)outcome;
}

void criterion_abort_test(void)
{
    leave();
}

void criterion_continue_test(void)
{
    __nm_test_failed();
}

void criterion_skip_test(const char *message, ...)
{
    (void)message;
    if (is_under_way)
        longjmp(end, 1);
}

void criterion_test_die(const char *message, ...)
{
    (void)message;
    leave();
}
