//@ command = "nearmiss explore keeps_state.c"
//@ paths = 41
// Variables, the heap and strtok's place are as before the first run in every run.
#include <assert.h>
#include <klee/klee.h>
#include <stdlib.h>
#include <string.h>

static int calls;
static int seen[40];
static char *words, text[] = "zero one two";

int main(void)
{
    unsigned char x;
    klee_make_symbolic(&x, sizeof x, "x");
    for (int i = 0; i < 40; i++)
        assert(!seen[i]);
    assert(calls++ == 0 && words == NULL);
    words = malloc(8);
    if (words == NULL)
        return 1;
    strcpy(words, strtok(text, " "));
    for (int i = 0; i < 40; i++)
        if (x == i) {
            seen[x] = 1;
            assert(strcmp(words, "zero") == 0);
            return 0;
        }
    return 0;
}
