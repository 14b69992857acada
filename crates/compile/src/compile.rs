//! Planning how one source is compiled: which of the user's options each step gets.

use std::path::Path;

use crate::config::Config;
use crate::plan::{Compilation, Instrumented, Word, temporary};
use nearmiss_cc::command::{Argument, Command};
use nearmiss_cc::options::Role;

/// Plans the compilation of `source`.
pub fn compilation(
    command: &Command,
    source: &Argument,
    number: usize,
    config: &Config,
) -> Compilation {
    if !source.is_instrumented() {
        return Compilation::Plain(plain(command, source, number));
    }
    Compilation::Instrumented(Box::new(Instrumented {
        number,
        source: source.words[0].clone(),
        object: object_word(command, source, number),
        front_end: front_end(command, source, number, config),
        keep_debug: command.debugs(),
        optimised: command.optimises(),
        twin_options: twin_options(command),
        again: again(command, source, config),
        code: code(command, source, number),
    }))
}

fn front_end(command: &Command, source: &Argument, number: usize, config: &Config) -> Vec<Word> {
    let mut words = front_end_options(command);
    words.extend(bitcode_options(command, source, config));
    words.extend(texts(["-o"]));
    words.push(Word::Temporary(temporary(number, "bc")));
    words
}

/// The options of a command for the front end.
fn front_end_options(command: &Command) -> Vec<Word> {
    chosen(command, |argument| {
        let role = argument.role;
        matches!(
            role,
            Role::Front | Role::Code | Role::Target | Role::Optimise | Role::Debug | Role::Plain
        )
    })
}

/// What makes the same bitcode of the source once more, and nothing else: neither files of dependencies nor
/// warnings.
fn again(command: &Command, source: &Argument, config: &Config) -> Vec<String> {
    let mut words = front_end_options(command);
    words.extend(texts(["-w", "-Qunused-arguments"]));
    words.extend(bitcode_options(command, source, config));
    words.iter().map(Word::to_string).collect()
}

/// Bitcode of a source as it is instrumented.
fn bitcode_options(command: &Command, source: &Argument, config: &Config) -> Vec<Word> {
    let mut words = texts(config.checks.options(command.overflow_wraps()));
    words.extend(texts(["-Xclang", "-disable-llvm-passes"]));
    if !command.optimises() {
        words.extend(texts(["-Xclang", "-disable-O0-optnone"]));
    }
    if !command.debugs() {
        words.extend(texts(["-gline-tables-only"]));
    }
    words.extend(own_headers(config));
    words.extend(texts(["-emit-llvm", "-c"]));
    words.extend(source_words(source));
    words
}

/// Lets a harness include `nearmiss.h`, after every directory that the user names.
pub fn own_headers(config: &Config) -> Vec<Word> {
    let directory = config.include_directory.iter();
    directory
        .flat_map(|path| texts(["-idirafter", &path.to_string_lossy()]))
        .collect()
}

/// The words of those arguments that are wanted, in their order.
fn chosen(command: &Command, wanted: impl FnMut(&&Argument) -> bool) -> Vec<Word> {
    let arguments = command.arguments.iter().filter(wanted);
    texts(arguments.flat_map(|argument| &argument.words))
}

/// How instrumented code is generated where the user asks for no optimisation. Without any, each
/// value and each label that lives on to another block has a slot of its own: frames of real
/// functions were four to ten times the plain ones, and deep recursions ended the program.
/// Code that is generated at -O1 keeps no value that is cheap to compute once more.
const SMALL_FRAMES: [&str; 7] = [
    "-O1",
    "-mllvm",
    "-disable-cgp",
    "-mllvm",
    "-disable-machine-licm",
    "-mllvm",
    "-disable-machine-cse",
];

/// Keeps code generation from trying too hard. Instrumented functions are large: on Lua's and
/// bzip2's largest files the register allocator took half of the time for no faster code, and
/// copies of the dispatch block of a computed `goto` most of the rest. Numbers of sites, 64 bits
/// each, were hoisted to the entry and kept on the stack. CodeGenPrepare was 83 % of code
/// generation for 2,000 lines of stores: 10.8 s, and 2.2 s with `cgpp-huge-func=0` (200 was not
/// timed).
pub const CHEAP_CODE: [&str; 8] = [
    "-mllvm",
    "-disable-constant-hoisting",
    "-mllvm",
    "-grow-region-complexity-budget=100",
    "-mllvm",
    "-disable-early-taildup",
    "-mllvm",
    "-cgpp-huge-func=200",
];

/// What is spared as well where a unit has a huge function (`instrument::huge`). To place blocks takes
/// time in the square of their number where many are cold, and cold blocks stand at the end already.
pub const HUGE_CODE: [&str; 2] = ["-mllvm", "-disable-block-placement"];

/// The options that still matter when bitcode becomes machine code.
fn code(command: &Command, source: &Argument, number: usize) -> Vec<Word> {
    let wanted = |argument: &&Argument| {
        let role = argument.role;
        matches!(
            role,
            Role::Code | Role::Target | Role::Optimise | Role::Debug | Role::Assembler
        )
    };
    let mut words = chosen(command, wanted);
    if !command.optimises() {
        words.extend(texts(SMALL_FRAMES));
    }
    words.extend(texts([
        "-Qunused-arguments",
        "-Wno-everything",
        "-fno-crash-diagnostics",
        "-Xclang",
        "-disable-llvm-passes",
    ]));
    words.extend(texts(CHEAP_CODE));
    words.extend(texts(["-c"]));
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

/// Compiling without instrumentation.
fn plain(command: &Command, source: &Argument, number: usize) -> Vec<Word> {
    let mut words = front_end_options(command);
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
pub fn object(command: &Command, source: &Argument) -> String {
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

/// Words of a command as they are.
pub fn texts<T: AsRef<str>>(words: impl IntoIterator<Item = T>) -> Vec<Word> {
    words
        .into_iter()
        .map(|word| Word::Text(word.as_ref().to_string()))
        .collect()
}
