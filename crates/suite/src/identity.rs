//! Which executions are the same: those with the same program, arguments, environment and
//! inputs, but for what differs from one execution to the next without meaning anything.
//!
//! The first of them stands for all, so what is left out here must not be what makes a test
//! worth having:
//!
//! - *where it runs*: the working directory and directories above it that the suite made are
//!   named relative to it, and what lies in a temporary directory loses its first name. Files are
//!   compared by their contents, so a name alone makes no difference to what a program reads.
//! - *variables that the program does not know*: a variable whose name occurs nowhere in the
//!   program's file, and which the C library does not read, is not asked for. For a program with
//!   shared libraries of its own all variables count.
//! - *what was not there*: a path that was looked for in vain follows from all the rest.
//! - *times, owners and numbers* of files.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nearmiss_capture::{Captured, CapturedPath, Nature, Stdin};

use super::digest::Digest;
use super::programs::ProgramFacts;

/// Variables that never mean anything for a test.
const MEANINGLESS: [&str; 4] = ["_", "OLDPWD", "SHLVL", "PWD"];

/// Variables that `make` sets for its children: they name descriptors and processes.
const OF_MAKE: [&str; 3] = ["MAKEFLAGS", "MFLAGS", "MAKELEVEL"];

/// Variables that the C library looks at.
const OF_LIBC: [&str; 22] = [
    "CHARSET",
    "COLUMNS",
    "GCONV_PATH",
    "GETCONF_DIR",
    "GLIBC_TUNABLES",
    "HOME",
    "IFS",
    "LANG",
    "LANGUAGE",
    "LINES",
    "LOCALDOMAIN",
    "LOCPATH",
    "NLSPATH",
    "OUTPUT_CHARSET",
    "PATH",
    "POSIXLY_CORRECT",
    "RES_OPTIONS",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "TZDIR",
];

/// Variables that the C library and the dynamic linker look at, by their first letters.
const OF_LIBC_PREFIXES: [&str; 3] = ["LC_", "LD_", "MALLOC_"];

/// A short name for an execution: two have the same if they are the same test. The program counts
/// by its name here; see [`ProgramFacts::identity`] for its content. `content` names what is in
/// a kept file.
pub fn digest(
    captured: &Captured,
    program: &ProgramFacts,
    suite_directory: &Path,
    content: &impl Fn(&OsStr) -> String,
) -> String {
    let mut names = Names::new(&captured.directory, suite_directory);
    let mut digest = Digest::new();
    digest.add(&names.plain(captured.program.as_os_str().as_bytes()));
    digest.number(captured.arguments.len() as u64);
    for argument in &captured.arguments {
        digest.add(&names.plain(argument.as_bytes()));
    }
    for variable in variables(captured, program) {
        digest.add(&names.plain(variable));
    }
    digest.number(u64::from(captured.umask));
    add_stdin(&mut digest, captured, content);
    let mut rows: Vec<String> = Vec::new();
    for path in &captured.paths {
        if path.nature != Nature::Absent {
            rows.push(row(path, &mut names, content));
        }
    }
    // Threads and forked children use paths in any order.
    rows.sort();
    for row in rows {
        digest.add(row.as_bytes());
    }
    digest.name()
}

/// Why all variables of a program's environment must be kept, if so.
pub fn needs_all_variables(program: &ProgramFacts, executes: bool) -> Option<&'static str> {
    if program.has_libraries {
        Some("it has shared libraries of its own, which may read any variable")
    } else if executes || program.reads_all_variables {
        Some("it starts other programs or goes through its environment")
    } else {
        None
    }
}

/// Whether the program or its C library may ask for a variable of this name.
pub fn may_ask_for(name: &[u8], program: &ProgramFacts) -> bool {
    let mut prefixes = OF_LIBC_PREFIXES.iter();
    OF_LIBC.iter().any(|known| name == known.as_bytes())
        || prefixes.any(|prefix| name.starts_with(prefix.as_bytes()))
        || program.mentions(name)
}

/// The variables that may mean something, in order.
fn variables<'a>(captured: &'a Captured, program: &ProgramFacts) -> Vec<&'a [u8]> {
    let matters = |variable: &&[u8]| {
        let name = variable.split(|byte| *byte == b'=').next().unwrap_or(b"");
        let is_one_of = |list: &[&str]| list.iter().any(|known| name == known.as_bytes());
        !is_one_of(&MEANINGLESS)
            && (may_ask_for(name, program) || program.has_libraries && !is_one_of(&OF_MAKE))
    };
    let all = captured.environment.iter();
    let mut variables: Vec<&[u8]> = all
        .map(|variable| variable.as_bytes())
        .filter(matters)
        .collect();
    variables.sort_unstable();
    variables
}

fn add_stdin(digest: &mut Digest, captured: &Captured, content: &impl Fn(&OsStr) -> String) {
    let (nature, bytes) = match &captured.stdin {
        Stdin::Closed => (0, Vec::new()),
        Stdin::Null => (1, Vec::new()),
        Stdin::File(name) => {
            let content = name.as_ref().map(|name| content(name));
            (2, content.unwrap_or_default().into_bytes())
        }
        Stdin::Pipe(data) => (3, data.clone()),
        Stdin::Terminal(data) => (4, data.clone()),
        Stdin::Other(data) => (5, data.clone()),
    };
    digest.number(nature);
    digest.add(&bytes);
}

/// A path and what was there, as a name.
fn row(path: &CapturedPath, names: &mut Names, content: &impl Fn(&OsStr) -> String) -> String {
    let mut digest = Digest::new();
    digest.add(&names.plain(path.path.as_os_str().as_bytes()));
    digest.number(u64::from(path.mode));
    match &path.nature {
        Nature::Absent => digest.number(0),
        Nature::File { content: name } => {
            digest.number(1);
            digest.number(path.size);
            let content = name.as_ref().map(|name| content(name));
            digest.add(content.unwrap_or_default().as_bytes());
        }
        Nature::Directory { entries } => {
            digest.number(2);
            for entry in entries.iter().flatten() {
                digest.number(u64::from(entry.kind));
                digest.add(entry.name.as_bytes());
            }
        }
        Nature::Link(target) => {
            digest.number(3);
            digest.add(&names.plain(target.as_os_str().as_bytes()));
        }
        Nature::Pipe => digest.number(4),
        Nature::Socket => digest.number(5),
        Nature::Device => digest.number(6),
    }
    digest.name()
}

/// Makes names alike that only say where an execution took place.
struct Names {
    /// Directories and what stands for them, the longest first.
    directories: Vec<(Vec<u8>, Vec<u8>)>,
    /// First names in temporary directories, by the order in which they appear.
    temporary: HashMap<Vec<u8>, usize>,
}

/// Where programs put what has no name of its own.
pub const TEMPORARY: [&str; 3] = ["/tmp/", "/var/tmp/", "/dev/shm/"];

impl Names {
    fn new(directory: &Path, suite_directory: &Path) -> Names {
        let mut directories = vec![(directory.as_os_str().as_bytes().to_vec(), b".".to_vec())];
        let above = directory.ancestors().skip(1);
        let made_by_suite = above
            .take_while(|above| above.starts_with(suite_directory) && *above != suite_directory);
        let mut dots = b"..".to_vec();
        for above in made_by_suite {
            directories.push((above.as_os_str().as_bytes().to_vec(), dots.clone()));
            dots.extend(b"/..");
        }
        directories.retain(|(directory, _)| directory.len() > 1);
        Names {
            directories,
            temporary: HashMap::new(),
        }
    }

    /// A text with such names made alike, wherever they stand in it.
    fn plain(&mut self, text: &[u8]) -> Vec<u8> {
        let mut plain = Vec::with_capacity(text.len());
        let mut rest = text;
        while let Some(first) = rest.first() {
            let starts_path = *first == b'/' && !plain.last().is_some_and(|byte| is_of_name(*byte));
            let replaced = starts_path.then(|| self.replace(rest)).flatten();
            if let Some((size, replacement)) = replaced {
                plain.extend(replacement);
                rest = &rest[size..];
            } else {
                plain.push(*first);
                rest = &rest[1..];
            }
        }
        plain
    }

    /// If the text starts with such a name: how much of it, and what stands for it.
    fn replace(&mut self, text: &[u8]) -> Option<(usize, Vec<u8>)> {
        for (directory, replacement) in &self.directories {
            if let Some(rest) = text.strip_prefix(&directory[..])
                && !rest.first().is_some_and(|byte| is_of_name(*byte))
            {
                return Some((directory.len(), replacement.clone()));
            }
        }
        let base = TEMPORARY
            .iter()
            .find(|base| text.starts_with(base.as_bytes()))?;
        let rest = &text[base.len()..];
        let size = rest.iter().take_while(|byte| is_of_name(**byte)).count();
        if size == 0 {
            return None;
        }
        let name = &rest[..size];
        let next = self.temporary.len();
        let number = *self.temporary.entry(name.to_vec()).or_insert(next);
        let mut replacement = format!("{base}#{number}").into_bytes();
        replacement.extend(extension(name));
        Some((base.len() + size, replacement))
    }
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'.' | b'_' | b'-' | b'+' | b'@' | b'~')
        || byte >= 128
}

/// The extension of a name, which programs do look at; not what `mktemp` makes up.
fn extension(name: &[u8]) -> &[u8] {
    let dot = name.iter().rposition(|byte| *byte == b'.');
    let extension = dot.map_or(&[][..], |dot| &name[dot..]);
    let is_plain = extension.len() <= 4 && extension.iter().skip(1).all(u8::is_ascii_lowercase);
    if is_plain { extension } else { &[] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{captured, file, row};

    fn facts(words: &[&str]) -> ProgramFacts {
        let mut content = b"\0".to_vec();
        for word in words {
            content.extend(word.as_bytes());
            content.push(0);
        }
        ProgramFacts::of_content(&content)
    }

    fn named(content: &OsStr) -> String {
        content.display().to_string()
    }

    fn name(captured: &Captured) -> String {
        digest(captured, &facts(&["KNOWN"]), Path::new("/suite"), &named)
    }

    #[test]
    fn what_counts() {
        let base = captured("/suite", &["prog", "x"]);
        type Change = fn(&mut Captured);
        let changes: [Change; 9] = [
            |test| test.arguments.push("y".into()),
            |test| test.arguments[1] = "y".into(),
            |test| test.program = "/suite/other".into(),
            |test| test.umask = 0o77,
            |test| test.environment.push("KNOWN=1".into()),
            |test| test.environment.push("LC_ALL=C".into()),
            |test| test.stdin = Stdin::Pipe(b"text".to_vec()),
            |test| test.paths.push(row("/suite/in", file("abc"))),
            |test| test.paths.push(row("/suite/in", file("abd"))),
        ];
        let mut names = vec![name(&base)];
        for change in changes {
            let mut changed = base.clone();
            change(&mut changed);
            names.push(name(&changed));
        }
        let different: std::collections::HashSet<&String> = names.iter().collect();
        assert_eq!(different.len(), names.len());
    }

    #[test]
    fn what_does_not_count() {
        let base = captured("/suite", &["prog", "x"]);
        type Change = fn(&mut Captured);
        let changes: [Change; 6] = [
            |test| test.environment.push("SHLVL=7".into()),
            |test| test.environment.push("PWD=/suite".into()),
            |test| test.environment.push("TEST_NAME=cut-7".into()),
            |test| test.environment.push("MAKEFLAGS=-j3,4".into()),
            |test| {
                let absent = row("/suite/none", Nature::Absent);
                test.paths.push(absent);
            },
            |test| test.pid = 99,
        ];
        for (index, change) in changes.into_iter().enumerate() {
            let mut changed = base.clone();
            change(&mut changed);
            assert_eq!(name(&changed), name(&base), "{index}");
        }
    }

    #[test]
    fn all_variables_count_with_libraries() {
        let facts = facts(&["libmine.so.1"]);
        let base = captured("/suite", &["prog"]);
        let mut changed = base.clone();
        changed.environment.push("DEBUG=1".into());
        let name = |test: &Captured| digest(test, &facts, Path::new("/suite"), &named);
        assert_ne!(name(&changed), name(&base));
        changed.environment[0] = "MAKELEVEL=1".into();
        assert_eq!(name(&changed), name(&base));
    }

    #[test]
    fn directories_of_the_test_do_not_count() {
        let test = |directory: &str| {
            let input = format!("{directory}/in");
            let mut test = captured(directory, &["prog", &input, "--sep=:"]);
            test.environment.push(format!("KNOWN={input}").into());
            test.paths.push(row(&input, file("abc")));
            test
        };
        let first = name(&test("/suite/gt-cut.Ab12"));
        assert_eq!(first, name(&test("/suite/gt-cut.Xy98")));
        assert_eq!(first, name(&test("/tmp/x.7")));
        let mut other = test("/suite/gt-cut.Ab12");
        other.paths[0].nature = file("other");
        assert_ne!(first, name(&other));
    }

    #[test]
    fn names_are_made_alike_wherever_they_stand() {
        let mut names = Names::new(Path::new("/s/t.1/sub"), Path::new("/s"));
        let mut plain = |text: &str| String::from_utf8(names.plain(text.as_bytes())).unwrap();
        assert_eq!(plain("/s/t.1/sub"), ".");
        assert_eq!(plain("/s/t.1/sub/x:/s/t.1/y"), "./x:../y");
        assert_eq!(plain("/s/t.1/subway"), "../subway");
        assert_eq!(plain("-I/s/t.1/sub -o/s/z"), "-I/s/t.1/sub -o/s/z");
        assert_eq!(plain("--dir=/s/t.1/sub"), "--dir=.");
        assert_eq!(
            plain("/tmp/a.Xy3/f,/tmp/b.gz,/tmp/a.Xy3"),
            "/tmp/#0/f,/tmp/#1.gz,/tmp/#0"
        );
        assert_eq!(plain("/tmp/ /usr/tmp/x a/b"), "/tmp/ /usr/tmp/x a/b");
    }
}
