#include "driver.h"
#include <parser.c>

void once(void)
{
    char text[4];
    int value = 0;
    CHOOSE_STRING(text, 3, 42, 49);
    if (!parse_sum_pre(text, &value))
        return;
    begin();
    parse_sum(text, &value);
    end();
}
