/* A table of squares whose size and index come from standard input. */
#include <assert.h>
#include <stdio.h>

int main(void)
{
    int squares[10];
    unsigned size, index;
    if (scanf("%u %u", &size, &index) != 2)
        return 1;
    if (size < 1 || size > 10 || index > 9)
        return 1;
    for (unsigned i = 0; i < size; i++)
        squares[i] = i * i;
    assert(index < size);
    printf("%d\n", squares[index]);
    return 0;
}
