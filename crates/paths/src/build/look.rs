//! Looking at the C files: which functions they define, what their debug information says.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use nearmiss_harness::PROBE_FLAGS;

use super::compile::{Compiler, unknown_words};
use super::error::BuildError;
use super::source::Source;
use super::symbols;

/// Headers may have more for whoever optimises (glibc's `libintl.h` has `locale.h`): the macros of that, and its code as it is.
const AS_OPTIMISED: [&str; 3] = ["-O1", "-Xclang", "-disable-llvm-passes"];

/// A C file that clang has compiled.
#[derive(Debug)]
pub struct Looked {
    /// The object, with debug information.
    pub object: Vec<u8>,
    /// The functions that it defines.
    pub functions: BTreeSet<String>,
    /// The variables that it defines, static ones too.
    pub variables: BTreeSet<String>,
    /// The functions and variables of it that other files can use.
    pub exported: BTreeSet<String>,
}

/// Looks at files, each once.
#[derive(Debug)]
pub struct Looker<'a> {
    compiler: &'a Compiler,
    seen: Vec<Option<Looked>>,
    /// Notes for the report.
    pub notes: Vec<String>,
}

impl<'a> Looker<'a> {
    /// For this number of files.
    pub fn new(compiler: &'a Compiler, files: usize) -> Looker<'a> {
        Looker {
            compiler,
            seen: (0..files).map(|_| None).collect(),
            notes: Vec::new(),
        }
    }

    /// What is in file `index`. Words that only another compiler knows are dropped from its words.
    pub fn look(&mut self, sources: &mut [Source], index: usize) -> Result<&Looked, BuildError> {
        if self.seen[index].is_none() {
            let looked = self.compile(&mut sources[index], index)?;
            self.seen[index] = Some(looked);
        }
        Ok(self.seen[index].as_ref().expect("it was just looked at"))
    }

    /// The first file that exports `name`.
    pub fn find_exported(
        &mut self,
        sources: &mut [Source],
        name: &str,
    ) -> Result<Option<usize>, BuildError> {
        for index in 0..sources.len() {
            if self.look(sources, index)?.exported.contains(name) {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// The first file that defines `function`, static or not.
    pub fn find(
        &mut self,
        sources: &mut [Source],
        function: &str,
    ) -> Result<Option<usize>, BuildError> {
        for index in 0..sources.len() {
            if self.look(sources, index)?.functions.contains(function) {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    fn compile(&mut self, source: &mut Source, index: usize) -> Result<Looked, BuildError> {
        let output = self.output(index);
        loop {
            let input = source.path.clone();
            let plain = |flags: &[&str]| (self.compiler).plain(source, &input, flags, &output);
            let optimised = [PROBE_FLAGS, &AS_OPTIMISED[..]].concat();
            let make = || plain(PROBE_FLAGS).or_else(|error| plain(&optimised).map_err(|_| error));
            let Err(error) = self.compiler.once(source, "looked", &output, make) else {
                let object =
                    fs::read(&output).map_err(|error| BuildError::File(output.clone(), error))?;
                return Ok(Looked {
                    functions: symbols::functions(&object),
                    variables: symbols::variables(&object),
                    exported: symbols::exported(&object),
                    object,
                });
            };
            let unknown = unknown_words(&source.words, &error.to_string());
            if unknown.is_empty() {
                return Err(BuildError::Refused(source.name.clone(), error));
            }
            source.words.retain(|word| !unknown.contains(word));
            self.notes.push(format!(
                "{}: clang does not know {}",
                source.name.display(),
                unknown.join(" ")
            ));
        }
    }

    fn output(&self, index: usize) -> PathBuf {
        self.compiler.directory.join(format!("looked-{index}.o"))
    }
}

/// The names that are most like a misspelled one.
pub fn similar(wanted: &str, names: &BTreeSet<String>) -> Vec<String> {
    let wanted = wanted.to_lowercase();
    let is_like = |name: &&String| {
        let name = name.to_lowercase();
        name.contains(&wanted) || wanted.contains(&name) || distance(&wanted, &name) <= 2
    };
    names.iter().filter(is_like).take(5).cloned().collect()
}

/// Letters to insert, delete or replace.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, letter) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, other) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelled_name_is_found() {
        let names = ["merge", "merge_pre", "sort"].map(str::to_string).into();
        assert_eq!(similar("megre", &names), ["merge"]);
        assert_eq!(similar("Merge", &names), ["merge", "merge_pre"]);
        assert!(similar("insert_node", &names).is_empty());
    }
}
