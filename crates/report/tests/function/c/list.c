/* A list: found, changed, made and freed. */
#include <stdlib.h>

struct node {
    int value;
    struct node *next;
};

/* The last node, or the first of a cycle that comes again. */
static struct node *last(struct node *list)
{
    struct node *node = list;
    while (node != NULL && node->next != NULL && node->next != list) {
        node->value = -node->value;
        node = node->next;
    }
    return node;
}

static struct node *push(struct node **list, int value)
{
    struct node *node = malloc(sizeof *node);
    if (node == NULL)
        abort();
    node->value = value;
    node->next = *list;
    *list = node;
    return node;
}

static int pop(struct node **list)
{
    struct node *node = *list;
    if (node == NULL)
        return -1;
    int value = node->value;
    *list = node->next;
    free(node);
    return value;
}
