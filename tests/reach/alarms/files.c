/* An alarm in each of these functions: what a file holds, and whether it opens, decides. */
#include <stdio.h>
#include <stdlib.h>

struct box {
    int *data;
};

/* Without a file it does not go on. */
int ends(const char *name)
{
    FILE *file = fopen(name, "r");
    int none = 0, *count = NULL;
    if (file != NULL)
        count = &none;
    else
        exit(2);
    *count = 1; // ends
    return none;
}

/* Only for what a file that opens may hold. */
int holds(const char *name)
{
    FILE *file = fopen(name, "r");
    int parts = 3;
    if (file == NULL)
        return 0;
    if (getc(file) == 'x' && getc(file) == EOF)
        parts = 0;
    return 12 / parts; // holds
}

/* For nothing that it may hold. */
int never(const char *name)
{
    FILE *file = fopen(name, "r");
    if (file == NULL)
        return 0;
    int byte = getc(file);
    if (byte == EOF)
        return 0;
    return 12 / (byte + 1); // never
}

/* What is looked at may be null. */
int member(struct box *box)
{
    int sum = 0;
    if (box->data)
        sum++;
    return sum + *box->data; // member
}
