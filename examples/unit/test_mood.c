#include "mood.h"
#include <assert.h>
#include <string.h>

static void test_mood(void)
{
    assert(strcmp(mood("hello"), "calm") == 0);
    assert(strcmp(mood("help!!"), "alarmed") == 0);
}

int main(void)
{
    test_mood();
    return 0;
}
