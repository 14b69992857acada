//! The user's files: C sources with their words for the compiler, and what the linker gets.

use std::path::{Path, PathBuf};

use super::Sources;
use super::commands::Commands;
use super::error::BuildError;
use super::words::Words;

/// A C file, and how it is compiled.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// As the user named it.
    pub name: PathBuf,
    /// From the root.
    pub path: PathBuf,
    /// Where the compiler runs.
    pub directory: PathBuf,
    /// Words for the compiler.
    pub words: Vec<String>,
    /// The word that puts copies with marks in place of files.
    pub overlay: Option<String>,
    /// Whether such a copy may be part of it.
    pub is_marked: bool,
}

/// All files, sorted.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// C sources, in the user's order.
    pub sources: Vec<Source>,
    /// Objects, archives and shared libraries, from the root.
    pub linked: Vec<PathBuf>,
    /// Words for the linker.
    pub words: Vec<String>,
}

impl Files {
    /// Sorts the user's files; names are relative to `directory`.
    pub fn sort(given: &Sources, directory: &Path) -> Result<Files, BuildError> {
        let words = Words::sort(&given.flags, directory);
        let commands = match &given.compile_commands {
            Some(list) => Commands::read(&directory.join(list))?,
            None => Commands::default(),
        };
        let mut files = Files {
            words: words.link,
            ..Files::default()
        };
        for name in &given.files {
            let path = directory.join(name);
            if !path.is_file() {
                return Err(BuildError::NoSuchFile(name.clone()));
            }
            if path.to_str().is_none() {
                return Err(BuildError::NotUtf8(path));
            }
            match kind(name) {
                Kind::Linked => files.linked.push(path),
                Kind::Other => return Err(BuildError::UnknownKind(name.clone())),
                Kind::Source => {
                    let source = Source::new(name, path, directory, &words.compile, &commands);
                    files.sources.push(source);
                }
            }
        }
        match files.sources.is_empty() {
            true => Err(BuildError::NoSource),
            false => Ok(files),
        }
    }
}

impl Source {
    fn new(
        name: &Path,
        path: PathBuf,
        directory: &Path,
        words: &[String],
        commands: &Commands,
    ) -> Source {
        let mut source = Source {
            name: name.to_path_buf(),
            directory: directory.to_path_buf(),
            path,
            ..Source::default()
        };
        if let Some(found) = commands.find(&source.path) {
            source.directory = found.directory;
            source.words = found.words;
        }
        // What the user says himself comes last, and wins.
        source.words.extend(words.iter().cloned());
        source
    }

    /// The option that makes reports, `__FILE__` and debug information name this file and its
    /// neighbours as the user did, although a file of ours includes them from the root.
    pub fn naming(&self) -> Option<String> {
        let from = self.path.parent()?.to_string_lossy().into_owned();
        let to = self.name.parent()?.to_string_lossy().into_owned();
        let is_here = self.directory.join(&self.name) == self.path;
        if from == to || from.contains('=') || !is_here {
            return None;
        }
        let slash = if to.is_empty() { "" } else { "/" };
        Some(format!("-ffile-prefix-map={from}/={to}{slash}"))
    }
}

enum Kind {
    Source,
    Linked,
    Other,
}

fn kind(name: &Path) -> Kind {
    let text = name.to_string_lossy();
    let extension = name.extension().unwrap_or_default().to_string_lossy();
    match extension.as_ref() {
        "c" | "h" | "i" | "inc" => Kind::Source,
        "o" | "a" | "so" | "lo" | "obj" => Kind::Linked,
        _ if text.contains(".so.") => Kind::Linked,
        _ => Kind::Other,
    }
}
