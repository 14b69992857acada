// Printf of positions and %n.
#include <stdio.h>
int main(void)
{
    char b[20];
    int n = -1;
    static char f[] = "%2$d %1$d%n";
    sprintf(b, f, 33, 55, &n);
    puts(b);
    return 0;
}
