//! Answers of the system to a program that reads files, as inputs: what opens, and the first bytes of what is read.
//!
//! As with allocations that fail (see `refusals`) the files are compiled with other names for these functions, and the
//! harness has functions of these names, which look at inputs.

use std::fs;
use std::path::PathBuf;

use super::compile::Compiler;
use super::error::BuildError;

/// The variables that say it: the bytes that are read, and how many there are.
pub const READ: [&str; 2] = ["nearmiss_file", "nearmiss_file_size"];
/// Most bytes that are read.
pub const MOST_READ: usize = 16;
/// Functions that answer by these inputs.
pub const ANSWERING: [&str; 15] = [
    "fopen", "fdopen", "fclose", "fgetc", "getc", "getchar", "ungetc", "fgets", "fread", "feof",
    "ferror", "open", "read", "close", "isatty",
];

/// The words that give them other names.
pub fn words() -> impl Iterator<Item = String> {
    ANSWERING
        .iter()
        .map(|name| format!("-D{name}=nearmiss_{name}"))
}

/// Writes the file with the functions of these names.
pub fn write(compiler: &Compiler) -> Result<PathBuf, BuildError> {
    let path = compiler.directory.join("answers.c");
    let text = format!(
        "#define NEARMISS_MOST_READ {MOST_READ}\n{}",
        include_str!("answers.c")
    );
    fs::write(&path, text).map_err(|error| BuildError::File(path.clone(), error))?;
    Ok(path)
}
