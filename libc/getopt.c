/* Models of <getopt.h>: what libc looks at on the command line.
 *
 * libc does the work, prints the messages and moves the arguments. Here only the bytes that
 * decide what it does are looked at before, so that the path knows them: whether an argument is
 * an option, which one, and whether there is something behind it. The values of options are
 * not: they stay free, and as long as they like.
 */
#include "model.h"

#include <getopt.h>

#pragma GCC visibility push(hidden)

/* Where libc will go on inside a group of short options ("-abc"); NULL: at the next argument. */
static const char *rest_of_group;

/* The byte without its label. */
static char recorded(const char *byte)
{
    return (char)__nm_recorded((size_t)(unsigned char)*byte);
}

/* A branch that says that the byte is what it is. Returns it without a label. */
static char pin(const char *byte)
{
    char now = recorded(byte);
    if (*byte == now)
        return now;
    return 0;
}

/* libc compares the name of a long option, up to its =, with all that there are. */
static void pin_name(const char *name)
{
    for (char c = pin(name); c != 0 && c != '='; c = pin(++name))
        ;
}

/* Which of the option letters this is, counted from 1 in their order; 0: none of them. */
static unsigned number_of(const char *letter, const char *options)
{
    unsigned char numbers[256] = {0}, count = 0;
    for (const char *option = options; *option != 0; option++)
        if (*option != ':' && *option != ';' && *option != '-' && *option != '+')
            numbers[(unsigned char)*option] = ++count;
    return numbers[(unsigned char)*letter];
}

#define WAY(n) case n: return n;
#define WAYS(n) WAY(n) WAY(n + 1) WAY(n + 2) WAY(n + 3) WAY(n + 4) WAY(n + 5) WAY(n + 6) WAY(n + 7)

/* One branch with a way for each option: every other one is one step away from this path. */
static unsigned choose(unsigned number)
{
    switch (number) {
        WAYS(1) WAYS(9) WAYS(17) WAYS(25) WAYS(33) WAYS(41) WAYS(49) WAYS(57)
    default:
        return 0;
    }
}

/* A short option: its letter, and whether the argument goes on behind it. */
static bool pin_letter(const char *letter, const char *options)
{
    bool goes_on = false;
    if (letter[1] != 0)
        goes_on = true;
    unsigned number = choose(number_of(letter, options));
    char now = number == 0 ? pin(letter) : recorded(letter);
    if (now == 'W')
        pin_name(letter + 1); /* may stand for a long option */
    return goes_on;
}

static bool stops_at_first(const char *short_options, bool is_posix)
{
    return *short_options == '+' || is_posix || __nm_real_getenv("POSIXLY_CORRECT") != NULL;
}

/* How a function of the family reads the command line. */
struct manner {
    bool is_posix, has_names, names_after_one_dash;
};

/* Looks at what libc will look at. Returns the number of the argument where an option is. */
static int look(int count, char *const *arguments, const char *options, struct manner manner)
{
    int first = optind != 0 ? optind : 1;
    if (optind == 0)
        rest_of_group = NULL;
    if (rest_of_group != NULL) {
        pin_letter(rest_of_group, options);
        return first;
    }
    bool stops = *options == '-' || stops_at_first(options, manner.is_posix);
    for (int i = first; i < count; i++) {
        const char *argument = arguments[i];
        if (argument[0] != '-' || argument[1] == 0) {
            if (stops)
                return count;
            continue;
        }
        if (argument[1] == '-')
            pin_name(argument + 2);
        else if (manner.has_names && manner.names_after_one_dash)
            pin_name(argument + 1);
        else
            pin_letter(argument + 1, options);
        return i;
    }
    return count;
}

/* After libc: is it still inside the group of options of this argument? */
static void keep_place(int number, const char *argument)
{
    if (argument == NULL || optind > number)
        rest_of_group = NULL;
    else
        rest_of_group = rest_of_group != NULL ? rest_of_group + 1 : argument + 2;
}

#define GETOPT(name, how, parameters, ...)                                                     \
    int NM_MODEL(name) parameters                                                              \
    {                                                                                          \
        if (!nm_records())                                                                     \
            return __nm_real_##name(__VA_ARGS__);                                              \
        int number = look(count, arguments, options, how);                                     \
        /* libc moves only arguments before this one. */                                       \
        const char *argument = number < count ? arguments[number] : NULL;                      \
        int result = __nm_real_##name(__VA_ARGS__);                                            \
        keep_place(number, argument);                                                          \
        return result;                                                                         \
    }

static const struct manner plain = {false, false, false};
static const struct manner posix = {true, false, false};
static const struct manner with_names = {false, true, false};
static const struct manner with_names_only = {false, true, true};

GETOPT(getopt, plain, (int count, char *const *arguments, const char *options),
       count, arguments, options)
GETOPT(__posix_getopt, posix, (int count, char *const *arguments, const char *options),
       count, arguments, options)
GETOPT(getopt_long, with_names,
       (int count, char *const *arguments, const char *options, const struct option *names, int *name),
       count, arguments, options, names, name)
GETOPT(getopt_long_only, with_names_only,
       (int count, char *const *arguments, const char *options, const struct option *names, int *name),
       count, arguments, options, names, name)
