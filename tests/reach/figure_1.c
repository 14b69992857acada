//@ command = "nearmiss reach figure_1.c:22 --function testme"
//@ verdict = "reached"
//@ runs = 3
#include <stdio.h>

void testme(int i, int j)
{
    int k;

    if (i >= 0) {
        if (i < 10) {
            k = -10;
        } else {
            k = -20;
        }
    } else {
        k = 10;
    }

    if (k > 0) {
        if (j >= 0)
            puts("This is our target state!");
    } else {
        while (j < 10000) {
            j++;
        }
    }
}
