/* Makes terms and events: for ever, or until the runtime has had enough. */
#include <fcntl.h>

#include "test.h"

static void step(uint8_t *input, uint32_t i)
{
    uint32_t label = __nm_load(ADDRESS(input) | 4ull << 56, *(uint32_t *)input, 0);
    uint32_t sum = binary(ADD, 32, label, 0, *(uint32_t *)input, i);
    uint32_t value = *(uint32_t *)input + i;
    uint32_t less = binary(ULT, 32, sum, 0, value, 1000);
    __nm_branch(less, value < 1000, i);
}

int main(int argc, char **argv)
{
    CHECK(argc > 1);
    _Alignas(8) uint8_t input[8] = { 1, 2, 3, 4 };
    nearmiss_symbolic(input, 4, "input");
    if (!strcmp(argv[1], "loop"))
        for (uint32_t i = 0;; i++)
            step(input, i);
    if (!strcmp(argv[1], "close")) {
        for (int fd = 3; fd < 400; fd++)
            close(fd);
        int other = open(argv[2], O_RDWR | O_CREAT, 0666);
        for (int fd = 200; fd < 210; fd++)
            CHECK(dup2(other, fd) == fd);
    }
    for (uint32_t i = 0; i < 100000; i++)
        step(input, i);
    printf("mask=%lu\n", (unsigned long)__nm_summary.mask);
    CHECK(__nm_summary.mask != 0 || summary_of(input) == 0);
    return 0;
}
