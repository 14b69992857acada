//@ command = """nearmiss explore tree.c --function tree_insert --pre tree_insert_pre --oracle check_tree_insert \
//@   --size root=1 --null root --depth 2 --size fresh=1 --null fresh=no --range node.key=0..6"""
//@ large = "--depth 4 --range node.key=-1000..1000"
#include <limits.h>
#include <stdbool.h>

struct node {
    int key;
    struct node *left, *right;
};

// Puts a node where it belongs, if its key is new; the root from then on.
struct node *tree_insert(struct node *root, struct node *fresh)
{
    struct node **place = &root;
    while (*place) {
        if ((*place)->key == fresh->key)
            return root;
        if (fresh->key < (*place)->key)
            place = &(*place)->left;
        else
            place = &(*place)->right;
    }
    *place = fresh;
    return root;
}

// Keys rise from left to right, and lie between two bounds.
static bool is_ordered(const struct node *node, long least, long most)
{
    if (!node)
        return true;
    return node->key >= least && node->key <= most && is_ordered(node->left, least, node->key - 1L)
        && is_ordered(node->right, node->key + 1L, most);
}

bool tree_insert_pre(const struct node *root, const struct node *fresh)
{
    return is_ordered(root, INT_MIN, INT_MAX) && !fresh->left && !fresh->right;
}

static bool contains(const struct node *node, int key)
{
    return node && (node->key == key || contains(node->left, key) || contains(node->right, key));
}

bool check_tree_insert(const struct node *root, const struct node *fresh, const struct node *result)
{
    (void)root;
    return is_ordered(result, INT_MIN, INT_MAX) && contains(result, fresh->key);
}
