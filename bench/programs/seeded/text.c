// Text: fields, quotes, escapes, lines.
#include "seeded.h"

// A quoted field that ends in a backslash.
SEEDED(quoted_field, "", "\"ab\",c\n", "", "\"ab\\")
{
    slurp();
    char *field = malloc(size + 1), *out = field, *s = strdup(text);
    if (*s != '"')
        return 1;
    for (s++; *s && *s != '"'; s++)
        *out++ = *s == '\\' ? *++s : *s;
    *out = 0;
    puts(field);
    return 0;
}

// The third column of a row that has two.
SEEDED(third_column, "", "id,name,age\n1,ann,30\n", "", "id,name,age\n1,ann\n")
{
    char line[128];
    int sum = 0;
    while (fgets(line, sizeof line, stdin)) {
        char *first = strtok(line, ",\n"), *second = strtok(NULL, ",\n"), *third = strtok(NULL, ",\n");
        if (first && second)
            sum += strlen(third);
    }
    return sum == 99;
}

// Trailing spaces of a line that has nothing else.
SEEDED(trim, "", "key = value  \n", "", "  \n")
{
    char *line = malloc(64);
    if (!fgets(line, 64, stdin))
        return 1;
    size_t n = strcspn(line, "\n");
    line[n] = 0;
    char *end = line + n - 1;
    while (isspace((unsigned char)*end))
        *end-- = 0;
    puts(line);
    free(line);
    return 0;
}

// Expands tabs into a buffer that has room for one.
SEEDED(tabs, "a\tb", "", "\t\t\tb", "")
{
    char out[20];
    int column = 0;
    if (argc < 2 || strlen(argv[1]) > 10)
        return 1;
    for (char *s = argv[1]; *s; s++) {
        if (*s == '\t')
            do
                out[column++] = ' ';
            while (column % 8);
        else
            out[column++] = *s;
    }
    out[column] = 0;
    puts(out);
    return 0;
}

// The letter behind the last percent sign.
SEEDED(template, "hello %n!", "", "hello %", "")
{
    char *copy = argc > 1 ? strdup(argv[1]) : NULL;
    if (!copy)
        return 1;
    size_t n = strlen(copy);
    char *exact = malloc(n ? n : 1);
    memcpy(exact, copy, n);
    for (size_t i = 0; i < n; i++) {
        if (exact[i] == '%') {
            char what = exact[i + 1];
            printf("%s", what == 'n' ? "name" : what == 'd' ? "date" : "?");
            i++;
        } else {
            putchar(exact[i]);
        }
    }
    return 0;
}

// Words are counted by their first letter; only letters were thought of.
SEEDED(initials, "", "the quick brown fox\n", "", "the {uick\n")
{
    int counts[26] = {0}, *heap = calloc(26, sizeof *heap);
    char word[32];
    while (scanf("%31s", word) == 1)
        if (isgraph((unsigned char)word[0]) && !isdigit((unsigned char)word[0]) && !ispunct((unsigned char)word[0]))
            counts[tolower((unsigned char)word[0]) - 'a']++;
        else if (word[0] > 'z')
            heap[word[0] - 'a']++;
    return counts[0] + heap[0] == 77;
}

// A line that is joined to the next by a backslash, three times.
SEEDED(continued, "", "a=1\nb=2\n", "", "a\\\nb\\\nc\\\nd\n")
{
    char line[64], *parts[3];
    int n = 0;
    while (fgets(line, sizeof line, stdin)) {
        size_t length = strcspn(line, "\n");
        line[length] = 0;
        parts[n] = strdup(line);
        if (length && line[length - 1] == '\\')
            n++;
        else
            n = 0;
    }
    return n;
}

// A section name without its closing bracket.
SEEDED(section, "", "[main]\nx=1\n", "", "[main\n")
{
    char line[64], name[8];
    while (fgets(line, sizeof line, stdin)) {
        if (line[0] == '[') {
            char *end = strchr(line, ']');
            size_t length = end - line - 1;
            if (length < sizeof name) {
                memcpy(name, line + 1, length);
                name[length] = 0;
            } else if (end == NULL) {
                memcpy(name, line, strlen(line) + 4);
            }
        }
    }
    return 0;
}
