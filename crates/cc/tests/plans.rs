//! The table of command lines: `plans.txt` has each with the plan that is made of it.
//!
//! A line `$ …` is a command line (quoted as in a response file), the indented lines below it
//! are its plan. `NEARMISS_BLESS=1 cargo test` writes the file anew, to be reviewed as a diff.

use std::path::Path;

use nearmiss_cc::plan::{Compilation, Instrumented, Link, LinkArgument, Word};
use nearmiss_cc::{Checks, Config, Language, Plan, plan, response};

fn config(language: Language) -> Config {
    let mut config = Config::from_lookup(Path::new("/nowhere"), |_| None).unwrap();
    config.checks = Checks::parse("shift,signed-overflow").unwrap();
    config.language = language;
    config
}

/// What every plan has, shortened: the table shows what differs.
const SHORT: &[(&str, &str)] = &[
    (
        "-fsanitize=shift,signed-integer-overflow -fsanitize-recover=shift,signed-integer-overflow",
        "CHECKS",
    ),
    (
        "-fsanitize=shift -fsanitize-recover=shift",
        "CHECKS-BUT-OVERFLOW",
    ),
    (
        "-Qunused-arguments -Wno-everything -fno-crash-diagnostics -Xclang -disable-llvm-passes \
         -mllvm -disable-constant-hoisting -mllvm -grow-region-complexity-budget=100 -mllvm -disable-early-taildup -mllvm -cgpp-huge-func=200 -c",
        "CODE",
    ),
    (
        "-O1 -mllvm -disable-cgp -mllvm -disable-machine-licm -mllvm -disable-machine-cse",
        "-O1",
    ),
    ("-Xclang -disable-llvm-passes", "RAW"),
    ("-Xclang -disable-O0-optnone", "O0"),
    ("-gline-tables-only -emit-llvm -c", "LINES BC"),
    ("-emit-llvm -c", "BC"),
    ("-w -Qunused-arguments -c", "AGAIN"),
    ("-Qunused-arguments", "QUIET"),
];

fn shorten(words: String) -> String {
    SHORT
        .iter()
        .fold(words, |text, (long, short)| text.replace(long, short))
}

fn words(list: &[Word]) -> String {
    shorten(
        list.iter()
            .map(|word| quoted(&word.to_string()))
            .collect::<Vec<_>>()
            .join(" "),
    )
}

fn quoted(word: &str) -> String {
    match word.contains([' ', '"']) {
        true => format!("'{word}'"),
        false => word.to_string(),
    }
}

fn render(plan: &Plan) -> String {
    let Plan::Build { compilations, link } = plan else {
        return "  unchanged\n".to_string();
    };
    let mut text = String::new();
    for compilation in compilations {
        match compilation {
            Compilation::Plain(list) => text += &format!("  plain {}\n", words(list)),
            Compilation::Instrumented(job) => text += &render_instrumented(job),
        }
    }
    link.iter().for_each(|link| text += &render_link(link));
    text
}

fn render_instrumented(job: &Instrumented) -> String {
    let beside = job.beside.iter();
    let beside: String = beside
        .map(|list| format!("  beside {}\n", words(list)))
        .collect();
    let debug = if job.keep_debug { " debug" } else { "" };
    let optimised = if job.optimised { " optimised" } else { "" };
    format!(
        "  front {}\n  instrument {}{debug}{optimised} [{}]\n  code {}\n  else {}\n{beside}",
        words(&job.front_end),
        quoted(&job.source),
        job.twin_options.join(" "),
        words(&job.code),
        words(&job.plain)
    )
}

fn render_link(link: &Link) -> String {
    let arguments = link.arguments.iter().map(|argument| match argument {
        LinkArgument::Option(words) => words.join(" "),
        LinkArgument::Path(name, path) => format!("{name}:{}", quoted(path)),
        LinkArgument::Linked(path) => quoted(path),
        LinkArgument::Source(path) => format!("source:{}", quoted(path)),
        LinkArgument::Compiled(number) => format!("$T/{number}.o"),
        LinkArgument::Silent(words) => format!("({})", words.join(" ")),
    });
    let mut text = format!(
        "  link {}",
        shorten(arguments.collect::<Vec<_>>().join(" "))
    );
    for (set, name) in [
        (link.runtime, "RUNTIME"),
        (link.names_libc, "LIBC"),
        (link.shared, "SHARED"),
        (link.is_static, "STATIC"),
    ] {
        if set {
            text += &format!(" {name}");
        }
    }
    if !link.aside.is_empty() {
        text += &format!(" ASIDE {}", link.aside.join(" "));
    }
    text + "\n"
}

#[test]
fn command_lines_become_plans() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plans.txt");
    let table = std::fs::read_to_string(&path).unwrap();
    let mut actual = String::new();
    let mut count = 0;
    for line in table.lines().filter(|line| !line.starts_with("  ")) {
        actual += &format!("{line}\n");
        let (language, command) = match (line.strip_prefix("$ "), line.strip_prefix("c++ $ ")) {
            (Some(command), _) => (Language::C, command),
            (_, Some(command)) => (Language::Cplusplus, command),
            _ => continue,
        };
        count += 1;
        actual += &render(&plan(&response::split(command), &config(language)));
    }
    assert!(count >= 60, "the table lost its rows: {count}");
    if std::env::var_os("NEARMISS_BLESS").is_some() {
        std::fs::write(&path, &actual).unwrap();
    }
    for (number, (expected, actual)) in table.lines().zip(actual.lines()).enumerate() {
        assert_eq!(actual, expected, "plans.txt:{}", number + 1);
    }
    assert_eq!(table.lines().count(), actual.lines().count());
}
