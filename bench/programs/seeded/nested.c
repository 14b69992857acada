// Nesting: parsers that call themselves, brackets, expressions.
#include "seeded.h"

static const char *at;

static int expression(void);

static int factor(void)
{
    if (*at == '(') {
        at++;
        int value = expression();
        if (*at == ')')
            at++;
        return value;
    }
    int value = 0;
    while (isdigit((unsigned char)*at))
        value = value % 1000 * 10 + *at++ - '0';
    return value;
}

static int term(void)
{
    int value = factor();
    while (*at == '*' || *at == '/') {
        char operator = *at++;
        int other = factor();
        value = operator == '*' ? value % 1000 * (other % 1000) : value / other;
    }
    return value;
}

static int expression(void)
{
    int value = term();
    while (*at == '+' || *at == '-') {
        char operator = *at++;
        int other = term();
        value = operator == '+' ? value % 100000 + other : value % 100000 - other;
    }
    return value;
}

// A quotient whose divisor is a difference of equals.
SEEDED(calculator, "1+2*3", "", "6/(2-2)", "")
{
    at = argc > 1 ? argv[1] : "";
    printf("%d\n", expression());
    return 0;
}

// The fifth open bracket.
SEEDED(brackets, "(a(b))", "", "((((((", "")
{
    char open[5];
    int depth = 0;
    for (char *s = argc > 1 ? argv[1] : ""; *s; s++) {
        if (strchr("([{", *s))
            open[depth++] = *s;
        else if (strchr(")]}", *s) && depth > 0 && (open[depth - 1] + 1 == *s || open[depth - 1] + 2 == *s))
            depth--;
    }
    return depth;
}

// A closing tag without one that is open.
SEEDED(tags, "<a>x</a>", "", "</a>", "")
{
    char stack[8];
    int depth = 0;
    for (char *s = argc > 1 ? argv[1] : ""; *s; s++) {
        if (s[0] == '<' && s[1] == '/') {
            if (s[2] != stack[--depth])
                return 1;
        } else if (s[0] == '<' && depth < 8) {
            stack[depth++] = s[1];
        }
    }
    return 0;
}

static int list_depth(const char **s)
{
    int deepest = 0;
    (*s)++;
    while (**s != ']') {
        if (**s == '[') {
            int depth = list_depth(s);
            deepest = depth > deepest ? depth : deepest;
        } else {
            (*s)++;
        }
    }
    (*s)++;
    return deepest + 1;
}

// A list that is not closed.
SEEDED(open_list, "[1,[2]]", "", "[1,[2]", "")
{
    char *exact = argc > 1 ? strdup(argv[1]) : NULL;
    const char *s = exact;
    if (!exact || *s != '[')
        return 1;
    printf("%d\n", list_depth(&s));
    free(exact);
    return 0;
}

// A variable that refers to itself.
SEEDED(self_reference, "a=1|b=a", "", "a=b|b=a", "")
{
    int of[26] = {0};
    char seen = 0, steps[4];
    for (int i = 1; i < argc; i++)
        if (islower((unsigned char)argv[i][0]) && argv[i][1] == '=')
            of[argv[i][0] - 'a'] = argv[i][2];
    int name = 'a';
    while (name >= 'a' && name <= 'z') {
        steps[(int)seen++] = (char)name;
        name = of[name - 'a'];
    }
    return steps[0] == 'z';
}

// A pattern with a star at its end, after a set.
SEEDED(glob, "a*c", "", "[a]*", "")
{
    static const char subject[] = "abc";
    const char *p = argc > 1 ? argv[1] : "", *s = subject;
    char *exact = strdup(p);
    for (p = exact; *p; p++) {
        if (*p == '[') {
            const char *end = strchr(p, ']');
            if (!end)
                return 1;
            p = end;
            s++;
        } else if (*p == '*') {
            while (*s && (p[-1] == ']' || *s != p[1]))
                s++;
            if (p > exact && p[-1] == ']' && s[0] == 0 && s[-3] == 'a')
                abort();
        } else if (*p == *s) {
            s++;
        } else {
            return 1;
        }
    }
    return 0;
}

// Operators of the same precedence in a table of pairs.
SEEDED(precedence, "a+b", "", "a^b", "")
{
    static const int levels[5] = {1, 1, 2, 2, 3};
    static const char operators[] = "+-*/%^";
    int level = 0;
    for (char *s = argc > 1 ? argv[1] : ""; *s; s++) {
        const char *found = strchr(operators, *s);
        if (found)
            level = levels[found - operators];
    }
    return level == 9;
}

// JSON: a key that is followed by no value.
SEEDED(json_value, "{\"a\":1}", "", "{\"a\":}", "")
{
    const char *s = argc > 1 ? argv[1] : "";
    int *value = NULL, number;
    if (*s++ != '{' || *s++ != '"')
        return 1;
    while (isalnum((unsigned char)*s))
        s++;
    if (*s++ != '"' || *s++ != ':')
        return 1;
    if (isdigit((unsigned char)*s) || *s == '-') {
        number = atoi(s);
        value = &number;
    } else if (*s != '}') {
        return 1;
    }
    printf("%d\n", *value);
    return 0;
}
