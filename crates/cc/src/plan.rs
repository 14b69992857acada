//! What is to be done for a command line: pure data, made by a pure function.
//!
//! Each C source that becomes an object takes three steps: clang's front end writes bitcode
//! with its checks, `nearmiss-instrument` instruments it, clang makes machine code of it. A
//! program is linked by clang with the user's own arguments, the objects in place of the
//! sources, and the runtime.

use std::fmt;

use crate::command::Command;
use crate::config::Config;
use crate::{compile, link};

/// A word of a command to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// The word itself.
    Text(String),
    /// The path of a file with this name in the temporary directory.
    Temporary(String),
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    /// clang gets the command line as it is.
    Unchanged,
    /// The sources are compiled, then what came of it is linked.
    Build {
        /// One job for each source that is compiled on its own.
        compilations: Vec<Compilation>,
        /// The link, unless objects are wanted.
        link: Option<Link>,
    },
}

/// One source to compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compilation {
    /// By clang alone.
    Plain(Vec<Word>),
    /// With instrumentation.
    Instrumented(Box<Instrumented>),
}

/// One source to compile with instrumentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instrumented {
    /// The number that is part of the names of its temporary files.
    pub number: usize,
    /// The source as named on the command line.
    pub source: String,
    /// The object to write.
    pub object: Word,
    /// clang's arguments to write bitcode with checks.
    pub front_end: Vec<Word>,
    /// Whether the user wants debug information in the object.
    pub keep_debug: bool,
    /// Whether the user wants optimised code.
    pub optimised: bool,
    /// Options with which the twin's code is generated.
    pub twin_options: Vec<String>,
    /// clang's arguments to write that bitcode once more, without an output.
    pub again: Vec<String>,
    /// clang's arguments to write what else the user asks for: the notes of `--coverage` (there are no
    /// counters, which would be instrumented too), the files of `-save-temps`.
    pub beside: Vec<Vec<Word>>,
    /// Whether the object goes to standard output in the end.
    pub to_stdout: bool,
    /// clang's arguments to make an object of the instrumented bitcode.
    pub code: Vec<Word>,
    /// clang's arguments to compile without instrumentation, if that fails.
    pub plain: Vec<Word>,
}

/// A link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// clang's arguments, in order, up to our additions.
    pub arguments: Vec<LinkArgument>,
    /// Whether the runtime is added: not in partial links, whose result is linked again.
    pub runtime: bool,
    /// Whether the result is a shared library.
    pub shared: bool,
    /// Whether no shared library is linked with the program, nor will be.
    pub is_static: bool,
    /// The user's words that are put aside.
    pub aside: Vec<String>,
    /// The user's words for counters, which instrumented code does without.
    pub counters: Vec<String>,
    /// Whether the user's words stand for all libraries, so that libc must be named again
    /// after the runtime.
    pub names_libc: bool,
}

/// A part of a link command, and how it is recorded for the twin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkArgument {
    /// Recorded as it is.
    Option(Vec<String>),
    /// A single word that ends in a path; recorded with an absolute one.
    Path(String, String),
    /// An input for the linker; recorded with an absolute path unless it is instrumented.
    Linked(String),
    /// A source that clang compiles on the way; recorded with an absolute path.
    Source(String),
    /// The object of the compilation with this number; recorded as its source if it had to be
    /// compiled without instrumentation.
    Compiled(usize),
    /// Not recorded.
    Silent(Vec<String>),
}

/// The file that step `suffix` of compilation `number` writes.
pub fn temporary(number: usize, suffix: &str) -> String {
    format!("{number}.{suffix}")
}

/// Plans a command line: the words after the compiler's name, response files expanded.
pub fn plan(words: &[String], config: &Config) -> Plan {
    let command = Command::parse(words, config.language);
    if command.stop {
        return Plan::Unchanged;
    }
    let compile_only = command.compile_only();
    let compilations = (command.sources())
        .filter(|source| compile_only || source.is_instrumented())
        .enumerate()
        .map(|(number, source)| compile::compilation(&command, source, number, config))
        .collect();
    Plan::Build {
        compilations,
        link: (!compile_only).then(|| link::link(&command)),
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Word::Text(text) => write!(f, "{text}"),
            Word::Temporary(name) => write!(f, "$T/{name}"),
        }
    }
}
