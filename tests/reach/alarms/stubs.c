#include <stdlib.h>
/* `report` is defined nowhere. */
void report(const char *text);
struct item { int kind, value; };

/* What is read was never written, and a function is called elsewhere that no file defines. */
int stubbed(const int *from, int n)
{
    int copy[4];
    int i;
    if (n > 4) {
        report("too many");
        return 0;
    }
    for (i = 0; i < n; i++)
        copy[i] = from[i];
    if (copy[0])
        return 1;
    return 2;
}

/* What it gives back is looked at by the harness. */
struct item *made(int n)
{
    int first;
    struct item *item = malloc(sizeof *item);
    if (!item)
        return NULL;
    item->kind = 1;
    item->value = 0;
    if (n > 3)
        first = n;
    if (first)
        item->value = 1;
    return item;
}
