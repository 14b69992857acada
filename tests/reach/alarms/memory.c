/* clang's analyser has an alarm in each of these functions: memory may not be there. */
#include <stdlib.h>

void out_of_memory(void);

/* It goes on without memory. */
int unchecked(int a)
{
    int *p = malloc(sizeof *p);
    if (p == NULL)
        a = 3;
    *p = a;
    a += *p;
    free(p);
    return a;
}

/* What is called ends the program, which stands in another file. */
int ends(int a)
{
    int *p = malloc(sizeof *p);
    if (p == NULL)
        out_of_memory();
    *p = a;
    a += *p;
    free(p);
    return a;
}
