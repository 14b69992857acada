//@ command = "nearmiss explore freed_through_pointer.c --function drop --null item"
//@ paths = 3
// The function that frees is reached through a pointer: tests must not have its blocks on their stack.
#include <stdlib.h>

struct item {
    int count;
    char *text;
};

static void (*const release)(void *) = free;

int drop(struct item *item)
{
    if (item == NULL)
        return -1;
    if (item->count > 1) {
        item->count--;
        return 0;
    }
    release(item->text);
    release(item);
    return 1;
}
