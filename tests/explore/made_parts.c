//@ command = "nearmiss explore made_parts.c --function describe --range kind=0..3"
//@ paths = 4
// A structure with a string, numbers that were never written, an array of no length, a pointer into the middle.
#include <stdlib.h>
#include <string.h>

struct tail {
    int count;
    short items[];
};

struct description {
    char *name;
    int kind;
    int *numbers;
    int *middle;
    struct tail *tail;
    void *secret;
    const char *text;
};

struct description *describe(int kind)
{
    struct description *d = malloc(sizeof *d);
    d->kind = kind;
    d->name = strdup(kind ? "some" : "none");
    d->numbers = malloc(10 * sizeof *d->numbers);
    d->numbers[1] = 5;
    d->middle = d->numbers + 1;
    d->tail = 0;
    d->secret = d->name;
    d->text = "static";
    if (kind == 2) {
        d->tail = malloc(sizeof *d->tail + 3 * sizeof d->tail->items[0]);
        d->tail->count = 3;
        for (int i = 0; i < 3; i++)
            d->tail->items[i] = i * i;
    } else if (kind == 3) {
        free(d->numbers);
        d->numbers = d->middle = 0;
    } else if (kind == 1) {
        d->middle = calloc(8, sizeof *d->middle);
    }
    return d;
}
