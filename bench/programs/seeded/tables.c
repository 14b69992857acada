// Tables: keywords, hashes, sorted arrays, lookups.
#include "seeded.h"

static const char *const words[] = {"begin", "else", "end", "if", "loop", "return", "while", NULL};

static int lookup(const char *word)
{
    for (int i = 0; words[i]; i++) {
        const char *a = words[i], *b = word;
        while (*a && *a == *b)
            a++, b++;
        if (*a == *b)
            return i;
    }
    return -1;
}

// A keyword that has no handler.
SEEDED(keywords, "if", "", "while", "")
{
    static int handlers[6];
    int at = argc > 1 ? lookup(argv[1]) : -1;
    if (at < 0)
        return 1;
    handlers[at]++;
    return 0;
}

// Binary search behind the last element.
SEEDED(binary_search, "7", "", "99", "")
{
    int *sorted = malloc(5 * sizeof *sorted);
    for (int i = 0; i < 5; i++)
        sorted[i] = 3 * i + 1;
    int low = 0, high = 5, key = argc > 1 ? atoi(argv[1]) : 0;
    while (low < high) {
        int middle = (low + high) / 2;
        if (sorted[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    int hit = sorted[low] == key;
    free(sorted);
    return !hit;
}

// A hash that is negative.
SEEDED(negative_hash, "name", "", "aaaaaaa", "")
{
    static int buckets[16];
    int hash = 0;
    for (char *s = argc > 1 ? argv[1] : ""; *s; s++)
        hash = (int)((unsigned)hash * 31u + (unsigned char)*s);
    buckets[hash % 16]++;
    return 0;
}

// The fourth different word has no room.
SEEDED(distinct, "", "a b a\n", "", "a b c d\n")
{
    char seen[3][8], word[8];
    int count = 0;
    while (scanf("%7s", word) == 1) {
        int i = 0;
        while (i < count && strcmp(seen[i], word) != 0)
            i++;
        if (i == count)
            strcpy(seen[count++], word);
    }
    return 0;
}

// A command with an argument that is not given.
SEEDED(commands, "", "list\n", "", "load\n")
{
    char line[64];
    while (fgets(line, sizeof line, stdin)) {
        char *command = strtok(line, " \n"), *argument = strtok(NULL, " \n");
        if (command && strcmp(command, "load") == 0)
            printf("%zu\n", strlen(argument));
        else if (command && strcmp(command, "save") == 0 && argument)
            puts(argument);
    }
    return 0;
}

// A country code whose second letter is below 'A'.
SEEDED(country, "DE", "", "A-", "")
{
    char *visited = calloc(26 * 26, 1);
    if (argc < 2 || strlen(argv[1]) != 2 || argv[1][0] < 'A' || argv[1][0] > 'Z' || argv[1][1] > 'Z')
        return 1;
    int at = (argv[1][0] - 'A') * 26 + argv[1][1] - 'A';
    return visited[at];
}

// Swaps rows by numbers of which one is checked.
SEEDED(swap, "0 2", "", "0 5", "")
{
    int rows[4] = {1, 2, 3, 4}, a, b;
    if (argc < 2 || sscanf(argv[1], "%d %d", &a, &b) != 2 || a < 0 || a > 3 || b < 0)
        return 1;
    int held = rows[a];
    rows[a] = rows[b];
    rows[b] = held;
    return 0;
}

// A permutation that maps a number to itself never comes back to its beginning.
SEEDED(cycle, "1203", "", "1213", "")
{
    int next[4], seen = 0;
    if (argc < 2 || strlen(argv[1]) != 4)
        return 1;
    for (int i = 0; i < 4; i++) {
        if (argv[1][i] < '0' || argv[1][i] > '3')
            return 1;
        next[i] = argv[1][i] - '0';
    }
    int at = next[0], order[4];
    while (at != 0) {
        order[seen++] = at;
        at = next[at];
    }
    return seen > 4 ? order[0] : 0;
}
