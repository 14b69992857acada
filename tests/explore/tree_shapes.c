//@ command = "nearmiss explore tree_shapes.c --function count --depth 2 --null tree"
//@ paths = 5
// No tree; a root with or without a left and a right child.
struct tree {
    struct tree *left, *right;
};

int count(const struct tree *tree)
{
    if (!tree)
        return 0;
    return count(tree->left) + 1 + count(tree->right);
}
