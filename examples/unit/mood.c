#include "mood.h"

static const char *const names[] = {"calm", "busy", "alarmed"};

const char *mood(const char *message)
{
    unsigned marks = 0;
    for (; *message; message++)
        if (*message == '!')
            marks++;
    return names[marks];
}
