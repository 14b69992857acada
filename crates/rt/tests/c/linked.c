/* An instrumented program with an instrumented library on its command line. */
#include "test.h"

int library_work(const char *text);

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    CHECK(library_work(argv[1]) == (getenv("NEARMISS_RECORD") != NULL));
    uint32_t equal = binary(EQ, 8, label_of(argv[1] + 1), 0, (uint8_t)argv[1][1], 'y');
    __nm_branch(equal, argv[1][1] == 'y', 22);
    return 0;
}
