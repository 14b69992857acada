#include "driver.h"
#include <session.c>

void once(void)
{
    enum event events[4];
    int n = choose(0, 4);
    CHOOSE_ALL(events, n, 0, 4);
    if (!run_session_pre(events, n))
        return;
    begin();
    run_session(events, n);
    end();
}
