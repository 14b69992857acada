// States: what fails does so after several steps in the right order.
#include "seeded.h"

// Login, select, delete and then list uses what was freed.
SEEDED(mailbox, "", "L\nQ\n", "", "L\nS\nD\nA\n")
{
    char line[16], *mail = NULL;
    int in = 0;
    while (fgets(line, sizeof line, stdin)) {
        switch (line[0]) {
        case 'L': in = 1; break;
        case 'S': if (in && !mail) mail = calloc(4, 1); break;
        case 'D': if (mail) free(mail); in = 2; break;
        case 'A': if (mail && in == 2) printf("%d\n", mail[0]); break;
        case 'Q': return 0;
        }
    }
    return 0;
}

// A combination lock of four digits.
SEEDED(lock, "1111", "", "7391", "")
{
    static const char key[] = "7391";
    int state = 0, *open = NULL;
    for (char *s = argc > 1 ? argv[1] : ""; *s; s++)
        state = *s == key[state] ? state + 1 : *s == key[0];
    if (state == 4)
        *open = 1;
    return 0;
}

// A comment that begins inside of a string ends the input early.
SEEDED(comments, "", "int x; /* one */ int y;\n", "", "\"/*\"")
{
    slurp();
    enum { CODE, STRING, COMMENT } state = CODE;
    int depth = 0, marks[2] = {0};
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '/' && text[i + 1] == '*') {
            depth += 1 + (state == STRING);
            marks[depth - 1]++;
            if (depth == 2 && state == STRING)
                marks[depth]++;
            state = COMMENT;
            i++;
        } else if (state == COMMENT && text[i] == '*' && text[i + 1] == '/') {
            state = CODE;
            depth = 0;
            i++;
        } else if (text[i] == '"' && state != COMMENT) {
            state = state == STRING ? CODE : STRING;
        }
    }
    return marks[0] == 9;
}

// Undo is possible once more than something was done.
SEEDED(undo, "aau", "", "uu", "")
{
    int done[8], count = 1;
    done[0] = 0;
    for (char *s = argc > 1 ? argv[1] : ""; *s; s++) {
        if (*s == 'a' && count < 8)
            done[count++] = *s;
        else if (*s == 'u')
            done[0] = done[--count];
    }
    return done[0] == 99;
}

// A connection that is closed twice.
SEEDED(connection, "", "open\nsend\nclose\n", "", "open\nclose\nclose\n")
{
    char line[32], *buffer = NULL;
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (strcmp(line, "open") == 0 && !buffer)
            buffer = malloc(16);
        else if (strcmp(line, "send") == 0 && buffer)
            buffer[0] = 1;
        else if (strcmp(line, "close") == 0 && buffer)
            free(buffer);
    }
    return 0;
}

// A traffic light with a state that no table has.
SEEDED(light, "ggr", "", "gybg", "")
{
    static const int next[3][3] = {{0, 1, 2}, {1, 1, 3}, {2, 0, 2}};
    int state = 0;
    for (char *s = argc > 1 ? argv[1] : ""; *s; s++) {
        int event = *s == 'g' ? 0 : *s == 'y' ? 1 : *s == 'r' ? 2 : -1;
        if (*s == 'b')
            event = 2;
        if (event < 0)
            return 1;
        state = next[state][event];
    }
    return state == 9;
}

// Three wrong passwords lock; the lock's own counter is divided by.
SEEDED(attempts, "", "x\nsesame\n", "", "a\nb\nc\n")
{
    char line[32];
    int left = 3;
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (strcmp(line, "sesame") == 0)
            return 0;
        left--;
        printf("%d %% left\n", 300 / left);
    }
    return 1;
}

// A vending machine gives change from an empty box.
SEEDED(vending, "5d5", "", "5d5d5d5d", "")
{
    int box[3] = {5, 5, 5}, coins = 2, money = 0;
    for (char *s = argc > 1 ? argv[1] : ""; *s; s++) {
        if (*s == '5')
            money += 5;
        else if (*s == 'd' && money >= 5) {
            money -= 5;
            money += box[coins--];
        }
    }
    return money == 1000;
}
