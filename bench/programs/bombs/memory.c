// Values that are found through addresses made of input.
#include "bomb.h"

int table_on_stack(const char *s)
{
    int squares[] = { 0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100 };
    return squares[(s[0] & 15) % 11] == 81;
}

int table_in_table(const char *s)
{
    unsigned char next[] = { 3, 5, 1, 6, 0, 2, 4 }, weight[] = { 10, 30, 20, 60, 50, 70, 40 };
    return weight[next[next[(s[0] - '0') & 3]]] == 70;
}

int table_on_heap(const char *s)
{
    short *cells = malloc(12 * sizeof *cells);
    for (int i = 0; i < 12; i++)
        cells[i] = 5 * i % 12;
    int hit = cells[(unsigned char)s[0] % 12] == 7;
    free(cells);
    return hit;
}

int table_that_grew(const char *s)
{
    int *cells = malloc(3 * sizeof *cells);
    for (int i = 0; i < 3; i++)
        cells[i] = -i;
    cells = realloc(cells, 9 * sizeof *cells);
    for (int i = 3; i < 9; i++)
        cells[i] = i * i;
    int hit = cells[(unsigned char)s[0] % 9] == 49;
    free(cells);
    return hit;
}

int table_of_input(const char *s)
{
    unsigned x = s[0] & 15, cells[13];
    for (unsigned i = 0; i < 13; i++)
        cells[i] = (x + 3 * i) % 13;
    return cells[cells[cells[x % 13]]] == cells[cells[cells[4]]] && x > 5;
}

int written_then_read(const char *s)
{
    char cells[8] = { 0 };
    cells[s[0] & 7] = 1;
    cells[s[1] & 7] += 2;
    return cells[5] == 3;
}

int pointer_in_list(const char *s)
{
    struct node { int key; struct node *next; } nodes[6];
    for (int i = 0; i < 6; i++)
        nodes[i] = (struct node){ 11 * i, &nodes[(i + 2) % 6] };
    struct node *at = &nodes[(unsigned char)s[0] % 6];
    return at->next->next->key == 33;
}

int outside_of_table(const char *s)
{
    int cells[] = { 2, 3, 5, 7, 11, 13, 17 };
    int x = cells[s[0] - '0'];
    return x < 2 || x > 17;
}

int outside_of_block(const char *s)
{
    int *cells = calloc(20, sizeof *cells);
    int x = cells[s[0] - 'A'];
    free(cells);
    return x != 0;
}
