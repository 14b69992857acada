#include "named.h"
#include <stdio.h>
int main(void)
{
    printf("%s %s\n", __FILE__, header());
    return 0;
}
