/* An instrumented shared library. */
#include "test.h"

int library_work(const char *text);

int library_work(const char *text)
{
    uint32_t equal = binary(EQ, 8, label_of(text), 0, (uint8_t)*text, 'x');
    __nm_branch(equal, *text == 'x', 21);
    CHECK((__nm_summary.mask != 0) == (getenv("NEARMISS_RECORD") != NULL));
    return summary_of(text) != 0;
}
