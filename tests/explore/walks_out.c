//@ command = "nearmiss explore walks_out.c --function walk"
//@ paths = 4
//@ failing = 5
// Each way out of an object ends its path, also on concrete data: the branch on `y` behind it is none
// of its paths any more.
#include <stdlib.h>

static int first[2] = { 1, 2 };
static int second[2] = { 3, 0 };

int walk(int x, int y)
{
    int here[2] = { 5, 6 };
    int *block = malloc(8);
    int sum = second[1];
    if (!block)
        return 0;
    block[0] = block[1] = 7;
    switch (x) {
    case 1:
        for (int *p = first; *p != 9; p++) //~ error[out-of-bounds-read]
            sum++;
        break;
    case 2:
        for (int *p = here, *end = (int *)((char *)here + 12); p != end; p++)
            sum += *p; //~ error[out-of-bounds-read]
        break;
    case 3:
        sum = block[-256]; //~ error[out-of-bounds-read]
        break;
    case 4:
        for (int *p = block; p != block + 3; p++)
            *p = 1; //~ error[out-of-bounds-write]
        break;
    case 5:
        free(block);
        sum = *block; //~ error[use-after-free]
        block = 0;
        break;
    case 6:
        for (int *p = here + 2; p != here; p--)
            sum += p[-1];
        break;
    }
    free(block);
    return y == 4 ? sum : 0;
}
