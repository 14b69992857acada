// The heap: lists, stacks, growing arrays, ownership.
#include "seeded.h"

struct node { int value; struct node *next; };

// Removing the only element of a list.
SEEDED(list_remove, "+1+2-2", "", "+1-1", "")
{
    struct node *head = NULL;
    for (char *s = argc > 1 ? argv[1] : ""; s[0] && s[1]; s += 2) {
        if (s[0] == '+') {
            struct node *new = malloc(sizeof *new);
            *new = (struct node){s[1], head};
            head = new;
        } else if (s[0] == '-' && head && head->value == s[1]) {
            struct node *gone = head;
            head = head->next;
            printf("%d\n", head->value);
            free(gone);
        }
    }
    return 0;
}

// An array that grows when it is full, one element too late.
SEEDED(grow_late, "abc", "", "abcde", "")
{
    size_t room = 4, count = 0;
    char *all = malloc(room);
    for (char *s = argc > 1 ? argv[1] : ""; *s; s++) {
        if (count > room)
            all = realloc(all, room *= 2);
        all[count++] = *s;
    }
    free(all);
    return 0;
}

// The old pointer is used after the block has moved.
SEEDED(moved, "ab", "", "abcdefghi", "")
{
    size_t room = 8, count = 0;
    char *all = malloc(room), *first = all;
    for (char *s = argc > 1 ? argv[1] : ""; *s; s++) {
        if (count == room) {
            char *bigger = malloc(room *= 2);
            memcpy(bigger, all, count);
            free(all);
            all = bigger;
        }
        all[count++] = *s;
        *first ^= 0;
    }
    return 0;
}

// A stack machine that adds with one operand.
SEEDED(stack_machine, "12+", "", "1+", "")
{
    int *stack = malloc(8 * sizeof *stack), top = 0;
    for (char *s = argc > 1 ? argv[1] : ""; *s && top < 8; s++) {
        if (isdigit((unsigned char)*s)) {
            stack[top++] = *s - '0';
        } else if (*s == '+' && top > 0) {
            top--;
            stack[top - 1] += stack[top];
        }
    }
    return top;
}

// What an error path leaves freed, the end frees again.
SEEDED(error_path, "12", "", "1x", "")
{
    char *name = argc > 1 ? strdup(argv[1]) : NULL, *s = name;
    int bad = 0;
    if (!name)
        return 1;
    for (; *s; s++)
        if (!isdigit((unsigned char)*s)) {
            bad = 1;
            break;
        }
    if (bad)
        free(name);
    free(name);
    return bad;
}

// A tree without a left child is rotated.
SEEDED(rotate, "213r", "", "12r", "")
{
    struct tree { int key; struct tree *left, *right; } nodes[8], *root = NULL;
    int used = 0;
    for (char *s = argc > 1 ? argv[1] : ""; *s && used < 8; s++) {
        if (*s == 'r' && root) {
            struct tree *left = root->left;
            root->left = left->right;
            left->right = root;
            root = left;
            continue;
        }
        struct tree **at = &root;
        while (*at)
            at = *s < (*at)->key ? &(*at)->left : &(*at)->right;
        nodes[used] = (struct tree){*s, NULL, NULL};
        *at = &nodes[used++];
    }
    return 0;
}

// A record is written only for known kinds, and read for all.
SEEDED(unwritten, "a", "", "c", "")
{
    int *record = malloc(2 * sizeof *record);
    char kind = argc > 1 ? argv[1][0] : 'a';
    if (kind == 'a')
        record[0] = 1;
    else if (kind == 'b')
        record[0] = 2;
    if (record[0] > 1)
        puts("large");
    free(record);
    return 0;
}

// A ring buffer whose size is no power of two.
SEEDED(ring, "pppg", "", "pppppppg", "")
{
    int *ring = malloc(6 * sizeof *ring);
    unsigned head = 0, tail = 0;
    for (char *s = argc > 1 ? argv[1] : ""; *s; s++) {
        if (*s == 'p')
            ring[head++ & 7] = *s;
        else if (*s == 'g' && tail < head)
            tail++;
    }
    free(ring);
    return 0;
}
