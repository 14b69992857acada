//! The whole test file.

use nearmiss_results::FunctionReport;

use super::framework::Framework;
use super::{runner, stubs, test, undefined};
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
    text += &undefined::definitions(&report.undefined);
    text += &stubs::definitions(report);
    text += &failures(&tests);
    text += &helpers(&tests);
    if framework == Framework::GoogleTest {
        text += runner::GOOGLE_MACROS;
    }
    text += &tests;
    let mut shims = Vec::new();
    if framework == Framework::GoogleTest {
        let head = head(report, framework, options, &stem);
        let text = head + &failures(&entries) + &runner::google_test(report, &entries);
        shims.push(File {
            name: format!("{stem}.cc"),
            bytes: text.into_bytes(),
        });
    } else {
        text += &framework.main(function, &entries);
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
    // What runs the tests wants the library's own: sources may have others that nobody defines here.
    let own: String = ["exit", "fflush", "fork", "printf"]
        .map(|name| format!("#undef {name}\n"))
        .concat();
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
         {own}\
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
