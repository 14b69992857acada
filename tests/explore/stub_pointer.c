//@ command = "nearmiss explore stub_pointer.c --function walk --stub next_node --stub load=writes --null load().argument1[]=no --range count=0..2"
//@ paths = 14
// Stubs that give back and write pointers: written tests do the same.
struct node {
    int value;
    struct node *next;
};
struct node *next_node(int);
void load(struct node **where, const char *name, void *unknown);

int walk(int count)
{
    struct node *loaded = 0;
    int sum = 0;
    for (int i = 0; i < count; i++) {
        struct node *n = next_node(i);
        if (n)
            sum += n->value & 15;
    }
    load(&loaded, "x", &sum);
    if (loaded->next)
        return loaded->next->value & 3;
    return sum;
}
