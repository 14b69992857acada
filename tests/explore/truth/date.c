#include "driver.h"
#include <date.c>

void once(void)
{
    struct date date = {choose(1898, 2002), choose(-1, 14), choose(-1, 33)};
    if (!next_day_pre(&date))
        return;
    begin();
    next_day(&date);
    end();
}
