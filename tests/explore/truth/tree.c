#include "driver.h"
#include <tree.c>

// A tree of at most so many levels, in the nodes from `*free` on.
static struct node *choose_tree(int depth, struct node **free)
{
    if (depth == 0 || choose(0, 1) == 0)
        return 0;
    struct node *node = (*free)++;
    node->key = choose(0, 6);
    node->left = choose_tree(depth - 1, free);
    node->right = choose_tree(depth - 1, free);
    return node;
}

void once(void)
{
    struct node nodes[3], *free = nodes, fresh = {choose(0, 6), 0, 0};
    struct node *root = choose_tree(2, &free);
    if (!tree_insert_pre(root, &fresh))
        return;
    begin();
    tree_insert(root, &fresh);
    end();
}
