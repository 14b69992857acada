//! Files of dependencies (`-MD` and its like).
//!
//! clang derives the name of the file and the target in it from `-o`. Our front end writes
//! bitcode to a temporary file, so it is told both as if the object were written.

use std::path::Path;

use crate::command::Command;
use crate::options::Role;

/// The options that name what the user left to clang, when `object` is the object.
pub fn names(command: &Command, object: &str) -> Vec<String> {
    let mut words = Vec::new();
    if !command.has(Role::Dependencies) {
        return words;
    }
    if !names_file(command) {
        let file = Path::new(object).with_extension("d");
        words.extend(["-MF".to_string(), file.to_string_lossy().into_owned()]);
    }
    if !command.has(Role::DependencyTarget) {
        words.extend(["-MQ".to_string(), object.to_string()]);
    }
    words
}

/// Whether the file is named, by `-MF` or by `-Wp,-MD,file`.
fn names_file(command: &Command) -> bool {
    // clang reads no file from a list that goes on after it.
    let by_preprocessor = |value: &str| value.matches(',').count() == 1;
    command.has(Role::DependencyFile)
        || command
            .with(Role::Dependencies)
            .any(|argument| by_preprocessor(&argument.value))
}
