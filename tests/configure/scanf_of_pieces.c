// Scanf of pieces.
#include <stdio.h>
int main(void)
{
    int a = 0, b = 0;
    char w[8] = "";
    double d = 0;
    int n = sscanf("12 0x1f ab 1.5", "%d %i %7s %lf", &a, &b, w, &d);
    printf("%d %d %d %s %g\n", n, a, b, w, d);
    return 0;
}
