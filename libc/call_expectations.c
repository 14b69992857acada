/* Expectations that are functions of a framework's library and leave the test by `longjmp` where they fail. Test code calls these
 * instead (`instrument::rewrite::test_code`). With invented data a failed expectation means nothing, and the test goes on;
 * else it is the framework's.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern bool __nm_test_goes_on(void);

/* CMocka. */
#define WHERE const char *file, int line
#define EXPECT(name, holds, parameters, ...)                                                                           \
    extern void name parameters __attribute__((weak));                                                                 \
    void __nm_expect##name parameters;                                                                                 \
    void __nm_expect##name parameters                                                                                  \
    {                                                                                                                  \
        if ((holds) || !__nm_test_goes_on())                                                                           \
            name(__VA_ARGS__);                                                                                         \
    }

static bool is_same(const char *a, const char *b, size_t size, bool is_text)
{
    if (a == b || a == NULL || b == NULL)
        return a == b;
    for (size_t i = 0; i < size; i++) {
        if (a[i] != b[i])
            return false;
        if (is_text && a[i] == 0)
            break;
    }
    return true;
}

/* What CMocka takes for an error. */
static bool is_error(uintmax_t result, size_t size)
{
    uintmax_t most = size == 1 ? UINT8_MAX : size == 2 ? INT16_MAX : INT32_MAX;
    return result > most - 1;
}

EXPECT(_assert_true, result != 0, (uintmax_t result, const char *text, WHERE), result, text, file, line)
EXPECT(_assert_return_code, !is_error(result, size),
       (uintmax_t result, size_t size, uintmax_t error, const char *text, WHERE), result, size, error, text, file, line)
EXPECT(_assert_int_equal, a == b, (uintmax_t a, uintmax_t b, WHERE), a, b, file, line)
EXPECT(_assert_int_not_equal, a != b, (uintmax_t a, uintmax_t b, WHERE), a, b, file, line)
EXPECT(_assert_string_equal, is_same(a, b, SIZE_MAX, true), (const char *a, const char *b, WHERE), a, b, file, line)
EXPECT(_assert_string_not_equal, !is_same(a, b, SIZE_MAX, true), (const char *a, const char *b, WHERE), a, b, file, line)
EXPECT(_assert_memory_equal, is_same(a, b, size, false), (const void *a, const void *b, size_t size, WHERE), a, b, size,
       file, line)
EXPECT(_assert_memory_not_equal, !is_same(a, b, size, false), (const void *a, const void *b, size_t size, WHERE), a, b,
       size, file, line)
EXPECT(_assert_in_range, value >= least && value <= most, (uintmax_t value, uintmax_t least, uintmax_t most, WHERE),
       value, least, most, file, line)
EXPECT(_assert_not_in_range, value < least || value > most, (uintmax_t value, uintmax_t least, uintmax_t most, WHERE),
       value, least, most, file, line)
EXPECT(_fail, false, (WHERE), file, line)
