//! What runs the tests: each path was observed in a process of its own, so each test has one. Nothing
//! that one leaves behind in variables of the source file reaches the next. Templates: `$entries` are the
//! tests, `$function` what they test.

use nearmiss_results::FunctionReport;

/// Each test has a process of its own, where the framework itself does not see to that.
macro_rules! apart {
    () => {
        "\
/* Each test has a process of its own: nothing that it leaves behind reaches the next one. */
static int nearmiss_failed(pid_t child)
{
    int status = 0;
    return child < 0 || waitpid(child, &status, 0) != child || status != 0;
}

"
    };
}

/// With `assert` alone.
pub const PLAIN: &str = concat!(
    "\
static const struct {
    const char *name;
    void (*run)(void);
} nearmiss_tests[] = {
$entries    {NULL, NULL},
};

",
    apart!(),
    "\
int main(void)
{
    int tests = 0, failed = 0;
    for (; nearmiss_tests[tests].name != NULL; tests++) {
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            nearmiss_tests[tests].run();
            exit(0);
        }
        if (nearmiss_failed(child)) {
            printf(\"%s failed\\n\", nearmiss_tests[tests].name);
            failed++;
        }
    }
    printf(\"%d of %d tests passed\\n\", tests - failed, tests);
    return failed != 0;
}
"
);

/// With CMocka.
pub const CMOCKA: &str = concat!(
    "\
static const struct CMUnitTest nearmiss_tests[] = {
$entries    {NULL, NULL, NULL, NULL, NULL},
};

",
    apart!(),
    "\
int main(void)
{
    int failed = 0;
    for (const struct CMUnitTest *test = nearmiss_tests; test->name != NULL; test++) {
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            const struct CMUnitTest one[] = {*test};
            exit(cmocka_run_group_tests_name(test->name, one, NULL, NULL));
        }
        failed += nearmiss_failed(child);
    }
    return failed != 0;
}
"
);

/// With Unity.
pub const UNITY: &str = concat!(
    "\
void setUp(void) {}
void tearDown(void) {}

",
    apart!(),
    "\
#define NEARMISS_RUN(test)      \\
    do {                        \\
        fflush(NULL);           \\
        pid_t child = fork();   \\
        if (child == 0) {       \\
            UNITY_BEGIN();      \\
            RUN_TEST(test);     \\
            exit(UNITY_END());  \\
        }                       \\
        failed += nearmiss_failed(child); \\
    } while (0)

int main(void)
{
    int failed = 0;
$entries    return failed != 0;
}
"
);

/// With Check.
pub const CHECK: &str = "\
/* Check itself gives each test a process of its own. */
int main(void)
{
    Suite *suite = suite_create(\"$function\");
    TCase *paths = tcase_create(\"paths\");
$entries    suite_add_tcase(suite, paths);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
";

/// How the tests, which are C, speak to GoogleTest, which is not.
pub const GOOGLE_MACROS: &str = "\
void nearmiss_compare(const char *file, int line, const char *what, long long actual,
        long long expected);
void nearmiss_compare_text(const char *file, int line, const char *what, const char *actual,
        const char *expected);
void nearmiss_require(const char *file, int line, const char *what, int condition);

#define NEARMISS_EQUAL(actual, expected) \\
    nearmiss_compare(__FILE__, __LINE__, #actual, (long long)(actual), (long long)(expected))
#define NEARMISS_SAME_TEXT(actual, expected) \\
    nearmiss_compare_text(__FILE__, __LINE__, #actual, actual, expected)
#define NEARMISS_TRUE(condition) nearmiss_require(__FILE__, __LINE__, #condition, condition)

";

/// The C++ half of the tests for GoogleTest: a file that is C need not be C++ as well.
pub fn google_test(report: &FunctionReport, entries: &str) -> String {
    let mut text =
        String::from("#include <cstdlib>\n#include <cstring>\n#include <gtest/gtest.h>\n\n");
    text += "extern \"C\" {\n";
    for one in &report.tests {
        text += &format!("void test_{}_{}(void);\n", report.function, one.number);
    }
    text + "\n" + GOOGLE_SHIM + "\n" + entries.trim_end() + "\n"
}

const GOOGLE_SHIM: &str = "\
void nearmiss_compare(const char *file, int line, const char *what, long long actual,
        long long expected)
{
    if (actual != expected)
        ADD_FAILURE_AT(file, line) << what << \" is \" << actual << \", expected \" << expected;
}

void nearmiss_compare_text(const char *file, int line, const char *what, const char *actual,
        const char *expected)
{
    if (std::strcmp(actual, expected) != 0)
        ADD_FAILURE_AT(file, line)
                << what << \" is \\\"\" << actual << \"\\\", expected \\\"\" << expected << '\"';
}

void nearmiss_require(const char *file, int line, const char *what, int condition)
{
    if (!condition)
        ADD_FAILURE_AT(file, line) << what;
}
}

/* Each test has a process of its own: nothing that it leaves behind reaches the next one. */
static void nearmiss_apart(void (*test)(void))
{
    auto run = [test] {
        test();
        std::exit(::testing::Test::HasFailure());
    };
    EXPECT_EXIT(run(), ::testing::ExitedWithCode(0), \"\");
}
";
