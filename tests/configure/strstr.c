// Strstr.
#include <string.h>
int main(void)
{
    static char a[40001], b[20002];
    memset(a, 'A', 40000);
    memset(b, 'A', 20000);
    b[20000] = 'B';
    return strstr(a, b) != 0;
}
