// Static.
// options: -static
#include <stdio.h>
int main(void)
{
    return puts("a") < 0;
}
