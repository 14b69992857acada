//@ command = "nearmiss explore made_list.c --function split --size t=n --range n=0..3 --depth 3"
//@ paths = 15
// What the function makes is reached through parameters, structures and lists: 1 + 2 + 4 + 8.
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

static struct node *push(struct node *list, int value)
{
    struct node *node = malloc(sizeof *node);
    node->value = value;
    node->next = list;
    return node;
}

int split(const int *t, int n, struct node **evens, struct node **odds)
{
    *evens = *odds = 0;
    for (int i = 0; i < n; i++) {
        if (t[i] & 1)
            *odds = push(*odds, t[i]);
        else
            *evens = push(*evens, t[i]);
    }
    return n;
}
