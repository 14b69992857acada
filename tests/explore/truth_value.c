//@ command = "nearmiss explore truth_value.c --function either"
//@ paths = 3
#include <stdbool.h>

int either(bool one, bool other)
{
    if (one || other)
        return 1;
    return 0;
}
