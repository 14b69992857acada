/* A stand-in for Unity's header: the documented macros that generated tests use. */
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void setUp(void);
void tearDown(void);

static int unity_tests, unity_failures;
static jmp_buf unity_back;

#define UNITY_REQUIRE(condition)                                                               \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            printf("%s:%d:FAIL: %s\n", __FILE__, __LINE__, #condition);                        \
            longjmp(unity_back, 1);                                                            \
        }                                                                                      \
    } while (0)

#define TEST_ASSERT_TRUE(condition) UNITY_REQUIRE(condition)
#define TEST_ASSERT_NULL(pointer) UNITY_REQUIRE((pointer) == NULL)
#define TEST_ASSERT_NOT_NULL(pointer) UNITY_REQUIRE((pointer) != NULL)
#define TEST_ASSERT_EQUAL_INT(expected, actual)                                                \
    UNITY_REQUIRE((intptr_t)(expected) == (intptr_t)(actual))
#define TEST_ASSERT_EQUAL_INT64(expected, actual)                                              \
    UNITY_REQUIRE((int64_t)(expected) == (int64_t)(actual))
#define TEST_ASSERT_EQUAL_UINT64(expected, actual)                                             \
    UNITY_REQUIRE((uint64_t)(expected) == (uint64_t)(actual))
#define TEST_ASSERT_EQUAL_PTR(expected, actual)                                                \
    UNITY_REQUIRE((const void *)(expected) == (const void *)(actual))
#define TEST_ASSERT_EQUAL_STRING(expected, actual) UNITY_REQUIRE(strcmp(expected, actual) == 0)
#define TEST_ASSERT_EQUAL_MEMORY(expected, actual, size)                                       \
    UNITY_REQUIRE(memcmp(expected, actual, size) == 0)

#define UNITY_BEGIN() ((void)unity_back, unity_tests = unity_failures = 0)
#define RUN_TEST(test)                                                                         \
    do {                                                                                       \
        unity_tests++;                                                                         \
        if (setjmp(unity_back) == 0) {                                                         \
            setUp();                                                                           \
            test();                                                                            \
            tearDown();                                                                        \
        } else                                                                                 \
            unity_failures++;                                                                  \
    } while (0)

static inline int UNITY_END(void)
{
    printf("%d Tests %d Failures 0 Ignored\n%s\n", unity_tests, unity_failures,
            unity_failures ? "FAIL" : "OK");
    return unity_failures;
}
