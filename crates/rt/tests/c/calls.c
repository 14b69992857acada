/* Labels between functions, tables, the harness. */
#include <ctype.h>
#include <stdarg.h>

#include "test.h"

int main(void);

static const uint8_t table[16] = { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3 };
static uint8_t large[100000];
GLOBAL(table);
GLOBAL(large);

static void entering(uint32_t label)
{
    pass(entering, label, 0, label);
    __nm_thread.arguments[7] = 12345;
    __nm_enter(ADDRESS(entering));
    CHECK(__nm_thread.callee == 0 && __nm_thread.arguments[0] == label);
    CHECK(__nm_thread.arguments[1] == 0 && __nm_thread.arguments[7] == 0);
    pass(main, label, 0, 0);
    __nm_enter(ADDRESS(entering));
    CHECK(__nm_thread.callee == 0 && __nm_thread.arguments[0] == 0);
}

static void returning(uint32_t label, uint8_t value)
{
    __nm_thread.returned = label;
    __nm_thread.returned_by = ADDRESS(main);
    CHECK(__nm_returned(ADDRESS(main), value, 8, 0) == label);
    CHECK(__nm_thread.returned == 0);
    __nm_thread.returned = label;
    CHECK(__nm_returned(ADDRESS(returning), value, 8, 0) == 0);
    __nm_thread.returned = label;
    CHECK(__nm_returned(ADDRESS(main), value + 1u, 8, 0) == 0);
}

/* Seven integers and a double after the fixed one: registers, then the stack. */
static void variadic(uint32_t label, uint8_t value, int fixed, ...)
{
    uint32_t kept[33];
    uint32_t wide = __nm_cast(ZEXT | 8 << 8 | 32 << 16, label);
    memset(__nm_thread.arguments, 0, sizeof __nm_thread.arguments);
    __nm_thread.count = 11;
    __nm_thread.arguments[4] = wide;
    __nm_thread.arguments[6] = 1u << 28;
    __nm_thread.arguments[9] = wide;
    __nm_keep_arguments(ADDRESS(kept));
    va_list list;
    va_start(list, fixed);
    __nm_va_start(ADDRESS(list), ADDRESS(kept), 3);
    for (int i = 3; i < 11; i++) {
        if (i == 6) {
            va_arg(list, double);
            continue;
        }
        int got = va_arg(list, int);
        CHECK(got == (i == 4 || i == 9 ? value : i));
    }
    va_end(list);
    va_start(list, fixed);
    char name[16];
    uint32_t *areas = (uint32_t *)list;
    uint64_t overflow = *(uint64_t *)(areas + 2), save = *(uint64_t *)(areas + 4);
    uint32_t general = areas[0];
    for (int i = 3; i < 11; i++) {
        if (i == 6)
            continue;
        uint64_t place = general < 48 ? save + general : overflow;
        if (general < 48)
            general += 8;
        else
            overflow += 8;
        snprintf(name, sizeof name, "va%d", i);
        SHOW(name, __nm_load(place | 4ull << 56, *(uint32_t *)place, 0));
    }
    va_end(list);
}

static void tables(uint32_t label, uint8_t value)
{
    uint32_t index = __nm_cast(ZEXT | 8 << 8 | 64 << 16, label);
    const uint8_t *p = table + value;
    uint32_t address = binary(ADD, 64, index, 0, value, ADDRESS(table));
    uint64_t packed = ADDRESS(p) | 1ull << 56;
    SHOW("table", __nm_load_symbolic(address, packed, *p, 5));
    SHOW("table-again", __nm_load_symbolic(address, packed, *p, 5));
    const unsigned short *classes = *__ctype_b_loc();
    uint64_t place = ADDRESS(classes + value);
    uint32_t twice = binary(ADD, 64, index, index, value, value);
    address = binary(ADD, 64, twice, 0, 2 * value, ADDRESS(classes));
    SHOW("ctype", __nm_load_symbolic(address, place | 2ull << 56, classes[value], 6));
    p = large + value;
    address = binary(ADD, 64, index, 0, value, ADDRESS(large));
    packed = ADDRESS(p) | 1ull << 56;
    CHECK(__nm_load_symbolic(address, packed, *p, 7) == 0);
    CHECK(__nm_load_symbolic(address, packed, *p, 7) == 0);
}

int main(void)
{
    uint8_t input[4] = { 7, 2, 3, 4 };
    nearmiss_symbolic(input, 4, "name");
    uint32_t label = label_of(input);
    SHOW("first", label);
    printf("content=%d\n", input[0]);
    if (__nm_summary.mask) {
        entering(label);
        returning(label, input[0]);
        variadic(label, input[0], 0, 3, input[0], 5, 6.0, 7, 8, input[0], 10);
        tables(label, input[0] & 15);
    }
    uint32_t second[1] = { 1 };
    nearmiss_symbolic(second, 4, "name");
    printf("second=%u\n", second[0]);
    pass(nearmiss_assume, __nm_cast(ZEXT | 1 << 8 | 32 << 16, binary(ULT, 8, label, 0, input[0], 10)), 0, 0);
    nearmiss_assume(input[0] < 10);
    printf("after=0\n");
    return 5;
}
