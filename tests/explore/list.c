//@ command = "nearmiss explore list.c --function find --depth 3 --null list"
//@ paths = 7
// Found at the first, second, third node; not found in a list of 0, 1, 2, 3 nodes.
struct node {
    int value;
    struct node *next;
};

int find(const struct node *list, int value)
{
    for (int place = 0; list; list = list->next, place++)
        if (list->value == value)
            return place;
    return -1;
}
