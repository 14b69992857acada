/* Two sorted arrays into one. */
#include <stdio.h>

static void merge(const int *t1, int n1, const int *t2, int n2, int *t3)
{
    int i = 0, j = 0, k = 0;
    while (i < n1 && j < n2)
        t3[k++] = t1[i] < t2[j] ? t1[i++] : t2[j++];
    while (i < n1)
        t3[k++] = t1[i++];
    while (j < n2)
        t3[k++] = t2[j++];
}

static int unused(int x)
{
    return x;
}

int main(void)
{
    int a[] = {1, 3}, b[] = {2}, c[3];
    merge(a, 2, b, 1, c);
    printf("%d\n", c[1]);
    return 0;
}
