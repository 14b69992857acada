//! The files that clang leaves beside an object, made by compiling once more without instrumentation.

use std::path::{Path, PathBuf};

use crate::command::{Argument, Command};
use crate::compile::{object, own_headers, plain, texts, writes_to_stdout};
use crate::config::Config;
use crate::options::Role;
use crate::plan::{Word, temporary};

/// The compilations that leave such files, to be done before the object is made.
pub fn compilations(
    command: &Command,
    source: &Argument,
    number: usize,
    config: &Config,
) -> Vec<Vec<Word>> {
    if writes_to_stdout(command) {
        return Vec::new();
    }
    let again = [own_headers(config), plain(command, source, number, true)].concat();
    let made = [
        notes(command, source, number, &again),
        temporaries(command, source, &again),
    ];
    made.into_iter().flatten().collect()
}

/// For the notes that tools of coverage look for.
fn notes(command: &Command, source: &Argument, number: usize, again: &[Word]) -> Option<Vec<Word>> {
    let asks = |argument: &Argument| {
        let word = argument.words[0].as_str();
        matches!(word, "--coverage" | "-coverage" | "-ftest-coverage")
    };
    command.arguments.iter().any(asks).then(|| {
        let mut words = with_output(again, Word::Temporary(temporary(number, "notes.o")));
        let file = format!("-coverage-notes-file={}", notes_file(command, source));
        words.extend(texts(["-ftest-coverage", "-Xclang", &file]));
        words
    })
}

/// The file of notes as clang names it: after the object, or after the program and the source.
fn notes_file(command: &Command, source: &Argument) -> String {
    const ENDING: &str = "gcno";
    let name = match command.compile_only() {
        true => Path::new(&object(command, source)).with_extension(ENDING),
        false => {
            let program = command.output().unwrap_or("a");
            PathBuf::from(format!("{program}-{}.{ENDING}", stem(source)))
        }
    };
    name.to_string_lossy().into_owned()
}

/// For what `-save-temps` asks for: preprocessed source, bitcode and assembly, and in a link the
/// object too.
fn temporaries(command: &Command, source: &Argument, again: &[Word]) -> Option<Vec<Word>> {
    let asked = command.with(Role::Temporaries).next_back()?;
    let object = match command.compile_only() {
        true => object(command, source),
        false => {
            let beside_program = asked.words[0].ends_with("=obj");
            let program = command.output().filter(|_| beside_program);
            let directory = program.and_then(|program| Path::new(program).parent());
            let name = format!("{}.o", stem(source));
            let object = directory.unwrap_or(Path::new("")).join(name);
            object.to_string_lossy().into_owned()
        }
    };
    let mut words = with_output(again, Word::Text(object));
    words.extend(texts(&asked.words));
    Some(words)
}

/// A command with another output, which it names last.
fn with_output(words: &[Word], output: Word) -> Vec<Word> {
    let mut words = words.to_vec();
    words.pop();
    words.push(output);
    words
}

fn stem(source: &Argument) -> String {
    let stem = Path::new(&source.words[0]).file_stem();
    stem.unwrap_or_default().to_string_lossy().into_owned()
}
