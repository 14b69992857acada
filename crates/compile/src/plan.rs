//! What is to be done for a command line: pure data, made by a pure function.

use std::fmt;

use crate::config::Config;
use crate::{compile, link};
use nearmiss_cc::command::Command;

/// A word of a command to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// The word itself.
    Text(String),
    /// The path of a file with this name in the temporary directory.
    Temporary(String),
}

/// What is to be done.
#[derive(Clone, Debug)]
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
    /// clang's arguments to make an object of the instrumented bitcode.
    pub code: Vec<Word>,
}

/// A link.
#[derive(Clone, Debug)]
pub struct Link {
    /// clang's arguments, in order, up to our additions.
    pub arguments: Vec<LinkArgument>,
    /// Whether the runtime is added: not in partial links, whose result is linked again.
    pub runtime: bool,
    /// Whether the result is a shared library.
    pub shared: bool,
    /// Whether no shared library is linked with the program, nor will be.
    pub is_static: bool,
    /// What the program keeps of it, but for the directory.
    pub record: Command,
    /// Whether the user's words stand for all libraries, so that libc must be named again
    /// after the runtime.
    pub names_libc: bool,
}

/// A part of a link command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkArgument {
    /// Words as they are.
    Words(Vec<String>),
    /// The object of the compilation with this number.
    Compiled(usize),
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
