//! The program that counts: plain clang with its own counters, in pages that forked children share.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::CoverageError;
use super::pages;
use crate::build::tool::{self, Said, word, words};
use crate::build::{Programs, Recipe};

/// Options for the file under test. Names are not compressed because they are read here.
const COUNTING: [&str; 7] = [
    "-O0",
    "-g0",
    "-fprofile-instr-generate",
    "-fcoverage-mapping",
    "-fcoverage-mcdc",
    "-mllvm",
    "-enable-name-compression=false",
];

/// The symbols that bring `libc/coverage.c` in, and `libc/server.c` where there are no inputs.
const NEEDED: [&str; 2] = ["__nm_coverage", "__nm_board_rows"];
/// The replacement of the runtime in programs that do not record.
const REPLAY_ARCHIVE: &str = "libnearmiss_replay.a";

/// Builds the program beside the recording one.
pub fn build(programs: &Programs) -> Result<PathBuf, CoverageError> {
    let recipe = &programs.recipe;
    let directory = recipe.compiler.directory.join("coverage");
    fs::create_dir_all(&directory)
        .map_err(|error| CoverageError::File(directory.clone(), error))?;
    let mut objects = vec![pages(&directory)?];
    objects.push(subject(recipe, &directory)?);
    for index in 0..recipe.files.sources.len() {
        objects.push(other(recipe, &directory, index)?);
    }
    objects.push(objects[0].clone());
    let program = directory.join("program");
    let mut all = words(["-fprofile-instr-generate", "-Wl,--wrap=main"]).collect::<Vec<String>>();
    all.extend(NEEDED.map(|symbol| format!("-Wl,-u,{symbol}")));
    all.extend(recipe.link_words(&objects, &program));
    let archive = recipe
        .compiler
        .config
        .library_directory
        .join(REPLAY_ARCHIVE);
    all.push(word(&archive));
    run(recipe, &all, &directory)?;
    Ok(program)
}

fn pages(directory: &Path) -> Result<PathBuf, CoverageError> {
    let object = directory.join("pages.o");
    fs::write(&object, pages::object_file())
        .map_err(|error| CoverageError::File(object.clone(), error))?;
    Ok(object)
}

/// The file with the function.
fn subject(recipe: &Recipe, directory: &Path) -> Result<PathBuf, CoverageError> {
    let object = directory.join("subject.o");
    let mut source = recipe.source.clone();
    source.words.extend(recipe.words.iter().cloned());
    recipe
        .compiler
        .plain(&source, &recipe.input, &COUNTING, &object)
        .map_err(CoverageError::Build)?;
    Ok(object)
}

/// A file beside it, which is not counted.
fn other(recipe: &Recipe, directory: &Path, index: usize) -> Result<PathBuf, CoverageError> {
    let object = directory.join(format!("other-{index}.o"));
    let source = &recipe.files.sources[index];
    (recipe.compiler)
        .plain(source, &source.path, &["-O1"], &object)
        .map_err(CoverageError::Build)?;
    Ok(object)
}

fn run(recipe: &Recipe, words: &[String], directory: &Path) -> Result<(), CoverageError> {
    let said = tool::run(&recipe.compiler.config.clang, words, directory);
    let checked = said.and_then(Said::checked);
    checked.map(|_| ()).map_err(CoverageError::Build)
}
