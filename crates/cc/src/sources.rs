//! The recipe of a unit: its command and the files that its compilation read.

use std::path::Path;

use nearmiss_sites::recipe::{Recipe, SourceFile, digest};

use crate::command::Argument;

/// Directories of headers that stay as they are: of those only digests are kept.
const SYSTEM: [&str; 5] = [
    "/usr/include/",
    "/usr/lib/",
    "/usr/local/include/",
    "/usr/local/lib/",
    "/nix/store/",
];

/// How recipes of one command are made.
pub struct Maker<'a> {
    /// The directory of the command.
    pub directory: &'a Path,
    /// The compiler.
    pub compiler: &'a [String],
    /// Its arguments, response files expanded.
    pub arguments: Vec<String>,
    /// Whether contents are kept.
    pub keeps_sources: bool,
}

impl Maker<'_> {
    /// The recipe of a source that was compiled with these other files.
    pub fn recipe(&self, source: &Argument, dependencies: &[String]) -> Recipe {
        let name = source.words[0].as_str();
        let others = dependencies.iter().map(String::as_str);
        let names = [name]
            .into_iter()
            .chain(others.filter(|other| *other != name));
        Recipe {
            directory: nearmiss_sites::Link::text_of(self.directory),
            compiler: self.compiler.to_vec(),
            arguments: self.arguments.clone(),
            source: name.to_string(),
            files: names.filter_map(|name| self.file(name)).collect(),
        }
    }

    /// A file as it is now; none if it is gone already.
    fn file(&self, name: &str) -> Option<SourceFile> {
        let content = std::fs::read(self.directory.join(name)).ok()?;
        let is_system = SYSTEM.iter().any(|directory| name.starts_with(directory));
        match self.keeps_sources && !is_system {
            true => Some(SourceFile::of(name, content)),
            false => Some(SourceFile {
                path: name.to_string(),
                digest: digest(&content),
                content: None,
            }),
        }
    }
}
