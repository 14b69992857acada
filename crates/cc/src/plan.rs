//! What is to be done for a command line: pure data, made by a pure function.
//!
//! Each C source that becomes an object takes three steps: clang's front end writes bitcode
//! with its checks, `nearmiss-instrument` instruments it, clang makes machine code of it. A
//! program is linked by clang with the user's own arguments, the objects in place of the
//! sources, and the runtime.

use std::fmt;
use std::path::Path;

use crate::command::{Argument, Command, InputKind};
use crate::config::Config;
use crate::dependencies;
use crate::options::Role;

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
    /// clang's arguments to write bitcode with checks.
    pub front_end: Vec<Word>,
    /// Whether the user wants debug information in the object.
    pub keep_debug: bool,
    /// Options with which the twin's code is generated.
    pub twin_options: Vec<String>,
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
        .filter(|source| compile_only || is_instrumented(source))
        .enumerate()
        .map(|(number, source)| compilation(&command, source, number, config))
        .collect();
    Plan::Build {
        compilations,
        link: (!compile_only).then(|| link(&command)),
    }
}

fn is_instrumented(argument: &Argument) -> bool {
    let kind = argument.input.as_ref().map(|input| input.kind);
    kind == Some(InputKind::Instrumented)
}

fn compilation(
    command: &Command,
    source: &Argument,
    number: usize,
    config: &Config,
) -> Compilation {
    if !is_instrumented(source) {
        return Compilation::Plain(plain(command, source, number, false));
    }
    Compilation::Instrumented(Box::new(Instrumented {
        number,
        source: source.words[0].clone(),
        front_end: front_end(command, source, number, config),
        keep_debug: command.debugs(),
        twin_options: twin_options(command),
        code: code(command, source, number),
        plain: plain(command, source, number, true),
    }))
}

/// The user's options for the front end. Options for the linker go along with `-c`, where
/// clang warns that it does not need them; once is enough.
fn front_end_options(command: &Command, number: usize) -> Vec<Word> {
    let warn_unused = command.compile_only() && number == 0;
    let wanted = |argument: &&Argument| match argument.role {
        Role::Front | Role::Code | Role::Target | Role::Optimise | Role::Debug => true,
        Role::Dependencies | Role::DependencyFile | Role::DependencyTarget => true,
        Role::DependencyDetail | Role::Plain => true,
        Role::Link | Role::LinkPath | Role::Library | Role::Shared | Role::Relocatable => {
            warn_unused
        }
        Role::Input => {
            warn_unused
                && argument
                    .input
                    .as_ref()
                    .is_some_and(|input| input.kind == InputKind::Linked)
        }
        Role::Assembler
        | Role::Dropped
        | Role::Compile
        | Role::Output
        | Role::Language
        | Role::Stop => false,
    };
    texts(
        command
            .arguments
            .iter()
            .filter(wanted)
            .flat_map(|argument| &argument.words),
    )
}

fn front_end(command: &Command, source: &Argument, number: usize, config: &Config) -> Vec<Word> {
    let mut words = front_end_options(command, number);
    words.extend(texts(&dependencies::names(
        command,
        &object(command, source),
    )));
    words.extend(texts(&config.checks.options(command.overflow_wraps())));
    words.extend(texts(["-Xclang", "-disable-llvm-passes"]));
    if !command.optimises() {
        words.extend(texts(["-Xclang", "-disable-O0-optnone"]));
    }
    if !command.debugs() {
        words.extend(texts(["-gline-tables-only"]));
    }
    words.extend(texts(["-emit-llvm", "-c"]));
    words.extend(source_words(source));
    words.extend(texts(["-o"]));
    words.push(Word::Temporary(temporary(number, "bc")));
    words
}

/// The options that still matter when bitcode becomes machine code.
fn code(command: &Command, source: &Argument, number: usize) -> Vec<Word> {
    let wanted = |argument: &&Argument| {
        let role = argument.role;
        matches!(
            role,
            Role::Code | Role::Target | Role::Optimise | Role::Debug | Role::Assembler
        )
    };
    let mut words = texts(
        command
            .arguments
            .iter()
            .filter(wanted)
            .flat_map(|argument| &argument.words),
    );
    words.extend(texts([
        "-Qunused-arguments",
        "-Wno-everything",
        "-Xclang",
        "-disable-llvm-passes",
        "-c",
    ]));
    words.push(Word::Temporary(temporary(number, "instrumented.bc")));
    words.extend(texts(["-o"]));
    words.push(object_word(command, source, number));
    words
}

fn twin_options(command: &Command) -> Vec<String> {
    let wanted = |argument: &&Argument| matches!(argument.role, Role::Code | Role::Target);
    let arguments = command.arguments.iter().filter(wanted);
    arguments
        .flat_map(|argument| argument.words.clone())
        .collect()
}

/// Compiling without instrumentation. As a second try it is silent but for errors, since the
/// front end has said everything else already and has written the dependencies.
fn plain(command: &Command, source: &Argument, number: usize, second_try: bool) -> Vec<Word> {
    let wanted = |argument: &&Argument| match argument.role {
        Role::Input | Role::Output | Role::Language | Role::Compile | Role::Library => false,
        Role::Link | Role::LinkPath | Role::Shared | Role::Relocatable => false,
        Role::Dependencies | Role::DependencyDetail => !second_try,
        Role::DependencyFile | Role::DependencyTarget => !second_try,
        _ => true,
    };
    let mut words = texts(
        command
            .arguments
            .iter()
            .filter(wanted)
            .flat_map(|argument| &argument.words),
    );
    if second_try {
        words.extend(texts(["-w", "-Qunused-arguments"]));
    }
    words.extend(texts(["-c"]));
    words.extend(source_words(source));
    words.extend(texts(["-o"]));
    words.push(object_word(command, source, number));
    words
}

fn source_words(source: &Argument) -> Vec<Word> {
    let language = source
        .input
        .as_ref()
        .and_then(|input| input.language.as_deref());
    let language = language.into_iter().flat_map(|language| ["-x", language]);
    texts(language.chain([source.words[0].as_str()]))
}

/// The object that clang would write, as it names it in files of dependencies.
fn object(command: &Command, source: &Argument) -> String {
    let default = || {
        let file = Path::new(&source.words[0]).file_name().unwrap_or_default();
        Path::new(file)
            .with_extension("o")
            .to_string_lossy()
            .into_owned()
    };
    command.output().map_or_else(default, str::to_string)
}

fn object_word(command: &Command, source: &Argument, number: usize) -> Word {
    match command.compile_only() {
        true => Word::Text(object(command, source)),
        false => Word::Temporary(temporary(number, "o")),
    }
}

fn link(command: &Command) -> Link {
    let mut arguments = Vec::new();
    if command.inputs(InputKind::Instrumented).next().is_some() {
        // Options for sources that are objects by now.
        arguments.push(LinkArgument::Silent(vec!["-Qunused-arguments".into()]));
    }
    let mut compiled = 0;
    for argument in &command.arguments {
        link_argument(&mut arguments, argument, &mut compiled);
    }
    let has_word = |word: &str| {
        command
            .arguments
            .iter()
            .any(|argument| argument.words[0] == word)
    };
    let bare = ["-nostdlib", "-nodefaultlibs", "-nolibc"]
        .into_iter()
        .any(has_word);
    Link {
        arguments,
        runtime: !command.has(Role::Relocatable) && !has_word("-Wl,-r"),
        shared: command.has(Role::Shared),
        names_libc: bare
            && command
                .with(Role::Library)
                .any(|argument| argument.value == "c"),
    }
}

fn link_argument(arguments: &mut Vec<LinkArgument>, argument: &Argument, compiled: &mut usize) {
    let words = argument.words.clone();
    match (argument.role, &argument.input) {
        (Role::Input, Some(input)) => match (input.kind, &input.language) {
            (InputKind::Instrumented, _) => {
                arguments.push(LinkArgument::Compiled(*compiled));
                *compiled += 1;
            }
            (InputKind::Plain, Some(language)) => {
                arguments.push(LinkArgument::Option(vec!["-x".into(), language.clone()]));
                arguments.push(LinkArgument::Source(words[0].clone()));
                arguments.push(LinkArgument::Option(vec!["-x".into(), "none".into()]));
            }
            (InputKind::Plain, None) => arguments.push(LinkArgument::Source(words[0].clone())),
            (InputKind::Linked, _) => arguments.push(LinkArgument::Linked(words[0].clone())),
        },
        // Said again where a source needs it.
        (Role::Language, _) => {}
        (Role::LinkPath, _) => {
            let name = words[0][..2].to_string();
            arguments.push(LinkArgument::Path(name, argument.value.clone()));
        }
        (Role::Output | Role::Dependencies | Role::DependencyFile, _) => {
            arguments.push(LinkArgument::Silent(words));
        }
        (Role::DependencyTarget | Role::DependencyDetail, _) => {
            arguments.push(LinkArgument::Silent(words))
        }
        _ => arguments.push(LinkArgument::Option(words)),
    }
}

fn texts<T: AsRef<str>>(words: impl IntoIterator<Item = T>) -> Vec<Word> {
    words
        .into_iter()
        .map(|word| Word::Text(word.as_ref().to_string()))
        .collect()
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Word::Text(text) => write!(f, "{text}"),
            Word::Temporary(name) => write!(f, "$T/{name}"),
        }
    }
}
