//! The whole test file.

use nearmiss_results::FunctionReport;

use super::framework::Framework;
use super::test;
use crate::function::files::{File, MARKER, Options};

/// The macro that lets tests run that are known to fail.
const FAILURES: &str = "NEARMISS_KNOWN_FAILURES";

/// The files of a framework: the C file, and for GoogleTest what runs it.
pub fn sources(report: &FunctionReport, framework: Framework, options: &Options) -> Vec<File> {
    let function = &report.function;
    let stem = match options.stem.as_str() {
        "" => format!("test_{function}"),
        stem => stem.to_string(),
    };
    let mut tests = String::new();
    let mut entries = String::new();
    for one in &report.tests {
        let (name, text) = test::function(report, one, framework);
        let entry = framework.entry(function, &name);
        match test::why_disabled(report, one) {
            None => {
                tests += &format!("{text}\n");
                entries += &entry;
            }
            Some(_) => {
                tests += &format!("#if {FAILURES}\n{text}#endif\n\n");
                entries += &format!("#if {FAILURES}\n{entry}#endif\n");
            }
        }
    }
    let mut text = head(report, framework, options, &stem);
    text += &include(function, options);
    for header in framework.headers() {
        text += &format!("#include <{header}>\n");
    }
    text.push('\n');
    text += &failures(&tests);
    text += &helpers(&tests);
    if framework == Framework::GoogleTest {
        text += GOOGLE_MACROS;
    }
    text += &tests;
    let mut shims = Vec::new();
    if framework == Framework::GoogleTest {
        shims.push(File {
            name: format!("{stem}.cc"),
            bytes: shim(report, options, &stem, &entries).into_bytes(),
        });
    } else {
        text += &runner(framework, function, &entries);
    }
    let tests = File {
        name: format!("{stem}.c"),
        bytes: (text.trim_end().to_string() + "\n").into_bytes(),
    };
    std::iter::once(tests).chain(shims).collect()
}

fn head(report: &FunctionReport, framework: Framework, options: &Options, stem: &str) -> String {
    let function = &report.function;
    let flags: String = options
        .flags
        .iter()
        .map(|flag| format!(" {flag}"))
        .collect();
    let libraries = framework.libraries();
    let commands = match framework {
        Framework::GoogleTest => format!(
            " *   cc -c {stem}.c{flags}\n *   c++ {stem}.cc {stem}.o -o {stem}{libraries} && ./{stem}\n"
        ),
        _ => format!(" *   cc {stem}.c{flags} -o {stem}{libraries} && ./{stem}\n"),
    };
    let text = format!(
        "/* {MARKER}: a test for each path of {function} that it found.\n \
         * Without the line above nearmiss takes this file for yours and does not write it again.\n \
         *\n{commands} \
         *\n \
         * The values that are compared are those that were observed, in a process for each path.\n"
    );
    // What a user names may hold anything.
    text[..2].to_string() + &text[2..].replace("*/", "* /").replace("/*", "/ *") + " */\n"
}

/// The source file, with its `main` out of the way. It comes first: what it includes must find
/// the macros that it defines, and no others.
fn include(function: &str, options: &Options) -> String {
    let path = options.source.replace('\\', "\\\\").replace('"', "\\\"");
    format!(
        "#ifndef NEARMISS_SOURCE\n#define NEARMISS_SOURCE \"{path}\"\n#endif\n\
         #pragma GCC diagnostic push\n\
         #pragma GCC diagnostic ignored \"-Wunused-function\"\n\
         #pragma GCC diagnostic ignored \"-Wunused-variable\"\n\
         #pragma GCC diagnostic ignored \"-Wunused-parameter\"\n\
         #define main nearmiss_main_of_source\n\
         #include NEARMISS_SOURCE\n\
         #undef main\n\
         #undef {function}\n\
         #pragma GCC diagnostic pop\n\n\
         #undef NDEBUG\n"
    )
}

/// The switch for tests that are known to fail, if there are any.
fn failures(tests: &str) -> String {
    match tests.contains(FAILURES) {
        true => format!(
            "/* 1: also the tests that are known to fail. */\n\
             #ifndef {FAILURES}\n#define {FAILURES} 0\n#endif\n\n"
        ),
        false => String::new(),
    }
}

/// The functions about floating-point numbers that the tests call.
fn helpers(tests: &str) -> String {
    let mut text = String::new();
    for (kind, bits) in [("float", "unsigned"), ("double", "unsigned long long")] {
        if tests.contains(&format!("nearmiss_{kind}(")) {
            text += &format!(
                "static inline {kind} nearmiss_{kind}({bits} bits)\n{{\n    {kind} value;\n    \
                 memcpy(&value, &bits, sizeof value);\n    return value;\n}}\n\n"
            );
        }
        if tests.contains(&format!("nearmiss_same_{kind}(")) {
            text += &format!(
                "static inline int nearmiss_same_{kind}({kind} left, {kind} right)\n{{\n    \
                 return memcmp(&left, &right, sizeof left) == 0;\n}}\n\n"
            );
        }
    }
    if tests.contains("nearmiss_is_nan(") {
        text +=
            "static inline int nearmiss_is_nan(double value)\n{\n    return value != value;\n}\n\n";
    }
    text
}

fn runner(framework: Framework, function: &str, entries: &str) -> String {
    match framework {
        Framework::Plain => format!(
            "static const struct {{\n    const char *name;\n    void (*run)(void);\n\
             }} nearmiss_tests[] = {{\n{entries}    {{NULL, NULL}},\n}};\n\n{PLAIN_MAIN}"
        ),
        Framework::Cmocka => format!(
            "int main(void)\n{{\n    const struct CMUnitTest tests[] = {{\n{entries}    }};\n\n    \
             return cmocka_run_group_tests(tests, NULL, NULL);\n}}\n"
        ),
        Framework::Unity => format!(
            "void setUp(void) {{}}\nvoid tearDown(void) {{}}\n\n\
             int main(void)\n{{\n    UNITY_BEGIN();\n{entries}    return UNITY_END();\n}}\n"
        ),
        Framework::Check => format!(
            "int main(void)\n{{\n    Suite *suite = suite_create(\"{function}\");\n    \
             TCase *paths = tcase_create(\"paths\");\n{entries}    suite_add_tcase(suite, paths);\n\n    \
             SRunner *runner = srunner_create(suite);\n    srunner_run_all(runner, CK_NORMAL);\n    \
             int failed = srunner_ntests_failed(runner);\n    srunner_free(runner);\n    \
             return failed != 0;\n}}\n"
        ),
        Framework::GoogleTest => String::new(),
    }
}

/// Each path was observed in a process of its own, so each test has one.
const PLAIN_MAIN: &str = "\
/* Nothing that a test leaves behind reaches the next one. */
static int nearmiss_fails(void (*run)(void))
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        run();
        exit(0);
    }
    int status = 0;
    return child < 0 || waitpid(child, &status, 0) != child || status != 0;
}

int main(void)
{
    int tests = 0, failed = 0;
    for (; nearmiss_tests[tests].name != NULL; tests++) {
        if (nearmiss_fails(nearmiss_tests[tests].run)) {
            printf(\"%s failed\\n\", nearmiss_tests[tests].name);
            failed++;
        }
    }
    printf(\"%d of %d tests passed\\n\", tests - failed, tests);
    return failed != 0;
}
";

/// How the tests, which are C, speak to GoogleTest, which is not.
const GOOGLE_MACROS: &str = "\
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
fn shim(report: &FunctionReport, options: &Options, stem: &str, entries: &str) -> String {
    let mut text = head(report, Framework::GoogleTest, options, stem);
    text += "#include <cstring>\n#include <gtest/gtest.h>\n\n";
    text += &failures(entries);
    text += "extern \"C\" {\n";
    for one in &report.tests {
        text += &format!("void test_{}_{}(void);\n", report.function, one.number);
    }
    text + GOOGLE_SHIM + "}\n\n" + entries.trim_end() + "\n"
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
";
