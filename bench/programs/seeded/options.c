// Command lines: options and how they go together.
#include <unistd.h>
#include "seeded.h"

// Two options that were never given together.
SEEDED(together, "-a|-b", "", "-a|-c", "")
{
    int a = 0, b = 0, c = 0;
    for (int i = 1; i < argc; i++) {
        a |= strcmp(argv[i], "-a") == 0;
        b |= strcmp(argv[i], "-b") == 0;
        c |= strcmp(argv[i], "-c") == 0;
    }
    int *table = calloc(a + b + 1, sizeof *table);
    int last = table[a + b + c];
    free(table);
    return last;
}

// An option's number has no upper bound.
SEEDED(level, "-l|3", "", "-l|12", "")
{
    static const char *names[] = {"none", "low", "middle", "high"};
    int level = 0, c;
    while ((c = getopt(argc, argv, "l:v")) != -1)
        if (c == 'l')
            level = atoi(optarg);
    if (level < 0)
        return 1;
    puts(names[level]);
    return 0;
}

// A long option with an empty value.
SEEDED(long_option, "--name=bob|--size=3", "", "--name=", "")
{
    for (int i = 1; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        if (!value)
            continue;
        *value++ = 0;
        if (strcmp(argv[i], "--name") == 0) {
            char *copy = strdup(value);
            if (copy[strlen(copy) - 1] == '/')
                puts("directory");
            free(copy);
        }
    }
    return 0;
}

// A range from high to low.
SEEDED(range, "2-5", "", "5-2", "")
{
    int from, to;
    if (argc < 2 || sscanf(argv[1], "%d-%d", &from, &to) != 2 || from < 0 || to < 0 || from > 99 || to > 99)
        return 1;
    unsigned count = to - from + 1;
    if (count > 100 && count < 4000000000u)
        return 1;
    char *marks = calloc(100, 1);
    marks[count - 1] = 1;
    free(marks);
    return 0;
}

// A mode string of two letters whose second is read although there is none.
SEEDED(mode, "rw", "", "r", "")
{
    char *mode = argc > 1 ? strdup(argv[1]) : NULL;
    if (!mode || (mode[0] != 'r' && mode[0] != 'w'))
        return 1;
    char *exact = malloc(strlen(mode));
    memcpy(exact, mode, strlen(mode));
    int both = exact[1] == 'w' || exact[1] == '+';
    free(exact);
    return both == 5;
}

// "--" ends the options; nothing behind it is an empty list.
SEEDED(dashes, "-v|--|file", "", "-v|--", "")
{
    char **files = NULL;
    for (int i = 1; i < argc && !files; i++)
        if (strcmp(argv[i], "--") == 0)
            files = argv + i + 1;
    if (files)
        printf("%c\n", files[0][0]);
    return 0;
}

// A list of numbers with a repeated comma.
SEEDED(number_list, "1,2,3", "", "1,,3", "")
{
    if (argc < 2)
        return 1;
    int product = 6;
    for (char *s = argv[1]; *s;) {
        char *end;
        long number = strtol(s, &end, 10);
        product = product % (number < 1000 ? (int)number : 1000);
        s = *end == ',' ? end + 1 : end;
        if (end == s && *end)
            return 1;
    }
    return product == 5;
}

// A negated option of a name that is shorter than its prefix.
SEEDED(negated, "no-color", "", "no", "")
{
    char *name = argc > 1 ? strdup(argv[1]) : NULL;
    if (!name)
        return 1;
    if (strncmp(name, "no", 2) == 0) {
        char first = name[3];
        putchar(first);
    }
    free(name);
    return 0;
}
