/* A little protocol: a packet has a version, a count of fields, and fields of two bytes, key
 * and value. The program adds the values up by key and prints how they are spread.
 *
 * The bundled packet.bin is a good test: every line below runs, nothing fails.
 */
#include <stdio.h>
#include <stdlib.h>

#define KEYS 16

struct totals {
    int by_key[KEYS];
    int count;
};

static void add_field(struct totals *totals, unsigned char key, unsigned char value)
{
    if (key > KEYS)
        return;
    totals->by_key[key] += value;
    totals->count++;
}

static int mean(const struct totals *totals)
{
    int sum = 0;
    for (int key = 0; key < KEYS; key++)
        sum += totals->by_key[key];
    return sum / totals->count;
}

int main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!file) {
        fprintf(stderr, "usage: packet FILE\n");
        return 2;
    }
    struct totals totals = {0};
    int version = getc(file), fields = getc(file);
    if (version != 1)
        return 1;
    for (int i = 0; i < fields; i++) {
        int key = getc(file), value = getc(file);
        if (value == EOF)
            break;
        add_field(&totals, key, value);
    }
    fclose(file);
    printf("mean %d\n", mean(&totals));
    return 0;
}
