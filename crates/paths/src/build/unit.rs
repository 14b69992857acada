//! The file that the harness includes, and what its debug information says.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use nearmiss_harness::{PROBE_FLAGS, Request, RuleKind, stub_pointer};

use super::error::BuildError;
use super::source::Source;
use super::subject::{Finder, OTHER_MAIN};

/// What is written behind the files that the harness includes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Additions {
    /// Variables that the files declare and none defines.
    pub variables: Vec<Variable>,
    /// Functions that no file defines and that are to be stubs.
    pub functions: Vec<String>,
    /// Files with what is to know the types of those before: a precondition.
    pub files: Vec<PathBuf>,
    /// Steps towards a target that are marked in the files: the harness counts them.
    pub steps: u8,
}

/// A variable that is defined here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Whether every thread has its own.
    pub thread_local: bool,
}

impl Additions {
    /// Whether there is nothing to write.
    fn is_empty(&self) -> bool {
        self.variables.is_empty() && self.functions.is_empty() && self.files.is_empty()
    }

    /// The names of variables of which every thread has its own, or of the others.
    pub fn names(&self, thread_local: bool) -> Vec<String> {
        let variables = self.variables.iter();
        let wanted = variables.filter(|variable| variable.thread_local == thread_local);
        wanted.map(|variable| variable.name.clone()).collect()
    }

    /// The text. A variable gives way to one that a library brings along.
    fn text(&self, gives_way: bool) -> String {
        let mut text = String::new();
        for Variable { name, thread_local } in &self.variables {
            let storage = if *thread_local { "_Thread_local " } else { "" };
            let weak = if gives_way {
                " __attribute__((__weak__))"
            } else {
                ""
            };
            let _ = writeln!(text, "{storage}__typeof__({name}) {name}{weak};");
        }
        for name in &self.functions {
            let pointer = stub_pointer(name);
            let _ = writeln!(text, "__typeof__({name}) *{pointer};");
        }
        for file in &self.files {
            let _ = writeln!(text, "#include \"{}\"", file.display());
        }
        text
    }
}

impl Finder<'_> {
    /// Variables that are to be inputs and that no file defines are defined here, if the files declare them.
    pub fn add_globals(&mut self, request: &Request, included: &[usize]) -> Result<(), BuildError> {
        for name in &request.globals {
            let known = self.additions.variables.iter().any(|it| it.name == *name);
            if known || !is_identifier(name) || self.is_defined(name)? {
                continue;
            }
            self.try_addition(included, |additions| {
                additions.variables.push(Variable {
                    name: name.clone(),
                    thread_local: false,
                });
            })?;
        }
        Ok(())
    }

    /// Functions that are to be stubs: their types are wanted.
    pub fn add_stubs(&mut self, request: &Request, included: &[usize]) -> Result<(), BuildError> {
        let rules = request.rules.iter();
        for rule in rules.filter(|rule| rule.kind == RuleKind::Stub) {
            let name = &rule.target;
            let known = self.additions.functions.contains(name);
            if known || !is_identifier(name) {
                continue;
            }
            if let Some(index) = self.looker.find(&mut self.files.sources, name)? {
                return Err(BuildError::StubIsDefined {
                    function: name.clone(),
                    file: self.files.sources[index].name.clone(),
                });
            }
            self.try_addition(included, |additions| additions.functions.push(name.clone()))?;
        }
        Ok(())
    }

    /// Adds something, if the files have declared it; else it is none of ours, and the plan says what
    /// there is.
    fn try_addition(
        &mut self,
        included: &[usize],
        add: impl FnOnce(&mut Additions),
    ) -> Result<(), BuildError> {
        let before = self.additions.clone();
        add(&mut self.additions);
        let (unit, words) = self.unit(included)?;
        if self.debug_information(included, &unit, &words).is_err() {
            self.additions = before;
        }
        Ok(())
    }

    fn is_defined(&mut self, variable: &str) -> Result<bool, BuildError> {
        for index in 0..self.files.sources.len() {
            let looked = self.looker.look(&mut self.files.sources, index)?;
            if looked.variables.contains(variable) || looked.exported.contains(variable) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The file that the harness includes: the user's own, or one that includes several, each with
    /// another name for a `main` in it. Also gives the words that its compilation needs besides those
    /// of the first file.
    pub fn unit(&self, included: &[usize]) -> Result<(PathBuf, Vec<String>), BuildError> {
        let sources: Vec<&Source> = included.iter().map(|i| &self.files.sources[*i]).collect();
        let strange = |source: &&&Source| source.path.to_string_lossy().contains(['"', '\n']);
        if let Some(source) = sources.iter().find(strange) {
            return Err(BuildError::StrangeName(source.name.clone()));
        }
        if let ([source], true) = (&sources[..], self.additions.is_empty()) {
            return Ok((source.path.clone(), Vec::new()));
        }
        let mut text = String::from("/* The files under test, without their main. */\n");
        for (number, source) in sources.iter().enumerate() {
            let _ = write!(
                text,
                "#undef main\n#define main {OTHER_MAIN}_{number}\n#include \"{}\"\n",
                source.path.display()
            );
        }
        text += &self.additions.text(!self.files.linked.is_empty());
        let words = sources[1..].iter().filter_map(|source| source.naming());
        Ok((self.write("unit.c", &text)?, words.collect()))
    }

    /// The object with the debug information of all that is included.
    pub fn debug_information(
        &mut self,
        included: &[usize],
        unit: &Path,
        words: &[String],
    ) -> Result<Vec<u8>, BuildError> {
        if let ([index], true) = (included, self.additions.is_empty()) {
            let looked = self.looker.look(&mut self.files.sources, *index)?;
            return Ok(looked.object.clone());
        }
        let mut source = self.files.sources[included[0]].clone();
        source.words.extend(words.iter().cloned());
        let output = self.compiler.directory.join("unit.o");
        self.compiler
            .plain(&source, unit, PROBE_FLAGS, &output)
            .map_err(BuildError::Together)?;
        fs::read(&output).map_err(|error| BuildError::File(output, error))
    }
}

fn is_identifier(name: &str) -> bool {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    !name.is_empty() && name.chars().all(is_word)
}
