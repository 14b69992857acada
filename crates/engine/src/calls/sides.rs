//! Which files of a program are test code, and which are the code under test.
//!
//! The file with `main` is test code, and so are files whose names or folders say so; a folder that holds `main` and
//! not all of the program is a folder of tests. Everything else is under test.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use nearmiss_sites::flow::{FunctionFlow, UnitFlow};

/// Words of file names that say that it is test code: as a part of the name, whole.
const NAMES: &[&str] = &[
    "check",
    "checks",
    "spec",
    "specs",
    "example",
    "examples",
    "demo",
    "demos",
    "runtest",
    "runtests",
    "unittest",
    "unittests",
    "selftest",
    "selftests",
    "gtest",
    "utest",
    "mtest",
    "regtest",
];
/// Test frameworks that are part of the programs that use them.
const FRAMEWORKS: &[&str] = &[
    "unity", "munit", "greatest", "minunit", "cutest", "acutest", "ctest", "picotest",
];

/// The two sides of a program's boundary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sides {
    /// The files that are test code, by their absolute names.
    pub test_files: Vec<String>,
    /// The files that are under test.
    other_files: Vec<String>,
    /// How many functions test code may call.
    pub functions: u64,
    /// Whether the file with `main` has a name of test code, or matches the user's patterns.
    pub is_named_as_test: bool,
    /// What all files have in common.
    root: PathBuf,
}

/// A function and its file.
struct Function<'a> {
    name: &'a str,
    file: String,
    is_local: bool,
}

impl Sides {
    /// Those of a program, by the user's patterns for test code or, without any, by names.
    pub fn of(flows: &[UnitFlow], patterns: &[String]) -> Sides {
        let functions = functions(flows);
        let files: BTreeSet<&str> = functions.iter().map(|it| it.file.as_str()).collect();
        let root = common_directory(&files);
        let main = functions.iter().find(|it| it.name == "main");
        let main = main.map(|function| function.file.clone());
        let patterns: Vec<glob::Pattern> = (patterns.iter())
            .filter_map(|pattern| glob::Pattern::new(pattern).ok())
            .collect();
        let is_named = |file: &str| {
            let relative = Path::new(file)
                .strip_prefix(&root)
                .unwrap_or(Path::new(file));
            match patterns.is_empty() {
                true => is_test_name(relative),
                false => patterns.iter().any(|pattern| {
                    let name = relative.file_name().unwrap_or_default().to_string_lossy();
                    pattern.matches_path(relative) || pattern.matches(&name)
                }),
            }
        };
        let folder = main.as_ref().and_then(|main| test_folder(main, &files));
        let is_in_folder = |file: &str| {
            let folder = folder.as_ref().filter(|_| patterns.is_empty());
            folder.is_some_and(|folder| Path::new(file).starts_with(folder))
        };
        let is_test =
            |file: &str| main.as_deref() == Some(file) || is_named(file) || is_in_folder(file);
        let (tests, others): (Vec<&str>, Vec<&str>) = files.iter().partition(|file| is_test(file));
        let callable = |it: &&Function| !it.is_local && others.contains(&it.file.as_str());
        Sides {
            functions: functions.iter().filter(callable).count() as u64,
            is_named_as_test: main.is_none_or(|main| is_named(&main)),
            test_files: tests.into_iter().map(str::to_string).collect(),
            other_files: others.into_iter().map(str::to_string).collect(),
            root,
        }
    }

    /// The files of test code, for a person.
    pub fn shown_tests(&self) -> Vec<String> {
        self.shown(&self.test_files)
    }

    /// The files that are under test, for a person.
    pub fn shown_others(&self) -> Vec<String> {
        self.shown(&self.other_files)
    }

    fn shown(&self, files: &[String]) -> Vec<String> {
        let relative = |file: &String| {
            let path = Path::new(file);
            let path = path.strip_prefix(&self.root).unwrap_or(path);
            path.to_string_lossy().into_owned()
        };
        files.iter().map(relative).collect()
    }
}

fn functions(flows: &[UnitFlow]) -> Vec<Function<'_>> {
    let functions = flows.iter().flat_map(|flow| &flow.functions);
    let function = |function: &'_ FunctionFlow| {
        let file = function.file.clone()?;
        let is_own = !file.starts_with("/usr/include/");
        is_own.then_some((file, function.is_local))
    };
    functions
        .filter_map(|it| function(it).map(|(file, is_local)| (it, file, is_local)))
        .map(|(it, file, is_local)| Function {
            name: &it.name,
            file,
            is_local,
        })
        .collect()
}

/// The folder of tests: that of `main`, if other files lie elsewhere.
fn test_folder<'a>(main: &'a str, files: &BTreeSet<&str>) -> Option<&'a Path> {
    let folder = Path::new(main).parent()?;
    let is_elsewhere = |file: &&str| !Path::new(file).starts_with(folder);
    files.iter().any(is_elsewhere).then_some(folder)
}

fn common_directory(files: &BTreeSet<&str>) -> PathBuf {
    let mut files = files.iter().map(|file| Path::new(file).parent());
    let first = files.next().flatten().unwrap_or(Path::new("/"));
    let common = files.flatten().fold(first, |common, directory| {
        let mut both = common.ancestors();
        both.find(|it| directory.starts_with(it))
            .unwrap_or(Path::new("/"))
    });
    common.to_path_buf()
}

/// Whether a part of a path is a name of test code: `tests`, `test_parser.c`, `parser-check.c`, `unity.c`.
fn is_test_name(path: &Path) -> bool {
    let parts = path
        .iter()
        .map(|part| part.to_string_lossy().to_lowercase());
    parts.into_iter().any(|part| {
        let mut words = part.split(|letter: char| !letter.is_ascii_alphanumeric());
        words.any(|word| {
            word.starts_with("test") || NAMES.contains(&word) || FRAMEWORKS.contains(&word)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmiss_sites::rewrite::absolute;

    /// A program of units, each a file in a directory with its functions.
    fn sides(units: &[(&str, &str, &[&str])], patterns: &[&str]) -> Sides {
        let unit = |(directory, file, functions): &(&str, &str, &[&str])| {
            let function = |name: &&str| FunctionFlow {
                name: name.to_string(),
                file: Some(absolute(directory, file)),
                ..FunctionFlow::default()
            };
            UnitFlow {
                functions: functions.iter().map(function).collect(),
                ..UnitFlow::default()
            }
        };
        let flows: Vec<UnitFlow> = units.iter().map(unit).collect();
        let patterns: Vec<String> = patterns.iter().map(|it| it.to_string()).collect();
        Sides::of(&flows, &patterns)
    }

    #[test]
    fn names_folders_and_main_say_what_is_test_code() {
        let found = sides(
            &[
                ("/p", "src/json.c", &["parse", "print"]),
                ("/p", "src/latest.c", &["latest"]),
                ("/p", "unity.c", &["unity"]),
                ("/p", "tests/all.c", &["main"]),
                ("/p/tests", "helper.c", &["helper"]),
            ],
            &[],
        );
        assert_eq!(
            found.shown_tests(),
            ["tests/all.c", "tests/helper.c", "unity.c"]
        );
        assert_eq!(found.shown_others(), ["src/json.c", "src/latest.c"]);
        assert_eq!((found.functions, found.is_named_as_test), (3, true));
    }

    #[test]
    fn the_folders_above_the_program_do_not_count() {
        let found = sides(
            &[
                ("/home/test/p", "a.c", &["main"]),
                ("/home/test/p", "b.c", &["f"]),
            ],
            &[],
        );
        assert_eq!(found.shown_tests(), ["a.c"]);
        assert!(!found.is_named_as_test);
    }

    #[test]
    fn patterns_of_the_user_replace_names() {
        let units: [(&str, &str, &[&str]); 3] = [
            ("/p", "lib/a.c", &["f"]),
            ("/p", "lib/test_vectors.c", &["vectors"]),
            ("/p", "try/b.c", &["main"]),
        ];
        assert_eq!(sides(&units, &["try/*"]).shown_tests(), ["try/b.c"]);
        assert!(sides(&units, &["b.c"]).is_named_as_test);
        assert_eq!(
            sides(&units, &[]).shown_tests(),
            ["lib/test_vectors.c", "try/b.c"]
        );
    }
}
