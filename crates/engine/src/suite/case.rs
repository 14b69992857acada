//! A captured execution as a test case: what it is run again by.

use std::fs;
use std::io;
use std::path::Path;

use nearmiss_abi::capture::{Loss, StdinNature};
use nearmiss_sandbox::Stdin;

use super::captured::{self, Captured};
use super::collector::Candidate;
use super::contents::Contents;
use super::programs::Programs;
use super::shelf::{Place, Shelf};
use super::skipped::Reason;
use super::world;
use crate::Config;
use crate::capsule::Capsule;
use crate::record::without_our_variables;
use crate::test_case::TestCase;

/// Why there is no test case.
#[derive(Debug)]
pub enum NoCase {
    /// It is skipped.
    Skipped(Reason),
    /// The campaign's directory cannot be written.
    Failed(io::Error),
}

impl From<Reason> for NoCase {
    fn from(reason: Reason) -> NoCase {
        NoCase::Skipped(reason)
    }
}

impl From<io::Error> for NoCase {
    fn from(error: io::Error) -> NoCase {
        NoCase::Failed(error)
    }
}

/// Where a test case is made.
pub struct Workshop<'a> {
    /// How it is recorded.
    pub config: &'a Config,
    /// The programs of the suite.
    pub programs: &'a Programs,
    /// What they read.
    pub contents: &'a Contents,
}

impl Workshop<'_> {
    /// Makes the test case of an execution and keeps it.
    pub fn make(&self, candidate: &Candidate, shelf: &mut Shelf) -> Result<TestCase, NoCase> {
        let captured = captured::read(&candidate.record)?;
        let program = self.programs.file(&candidate.program)?;
        self.refuse_losses(&captured)?;
        let command: Vec<String> = captured
            .arguments
            .iter()
            .map(|argument| argument.display().to_string())
            .collect();
        let place = shelf.place(&candidate.digest, &command)?;
        let capsule = self.capsule(&captured, &program, &place)?;
        capsule.write(&place.directory)?;
        Ok(TestCase {
            id: place.id,
            capsule,
            executions: candidate.executions,
            ended: candidate.ended.clone(),
            seconds: candidate.seconds,
            trace: None,
        })
    }

    /// What was not kept is no loss as long as the disk still has it.
    fn refuse_losses(&self, captured: &Captured) -> Result<(), Reason> {
        for (loss, path) in &captured.losses {
            let is_stdin = path.as_os_str().is_empty();
            let reason = match loss {
                Loss::TooManyPaths => return Err(Reason::TooManyFiles),
                _ if is_stdin => return Err(Reason::StdinLost),
                Loss::FileTooLarge => Reason::FileTooLarge,
                Loss::FilesTooLarge => Reason::NoRoom,
                Loss::NoRoom => Reason::NoRoom,
                // What the program could not read either; a long list is shown as it is now.
                Loss::Unreadable | Loss::DirectoryTooLarge => continue,
            };
            let mut rows = captured.paths.iter();
            let row = rows.find(|row| row.path == *path);
            if !row.is_some_and(world::is_unchanged) {
                return Err(reason);
            }
        }
        let is_there = |name| self.contents.path(name).exists();
        match captured.contents().all(|name| is_there(name)) {
            true => Ok(()),
            false => Err(Reason::NoRoom),
        }
    }

    fn capsule(&self, captured: &Captured, program: &Path, place: &Place) -> io::Result<Capsule> {
        let is_terminal = captured.stdin.nature == StdinNature::Terminal;
        let mut channels = self.config.channels.clone();
        let stdin = self.stdin(captured, place)?;
        if is_terminal && stdin == Stdin::Null {
            // What a person types cannot be fed again.
            channels.retain(|letter| letter != 'i');
        }
        let world = world::build(captured, |name| place.content(name));
        for thing in &world {
            if let nearmiss_sandbox::Nature::File {
                content: Some(content),
                ..
            } = &thing.nature
                && content.starts_with(&place.directory)
                && let Some(name) = content.file_name()
            {
                place.keep_content(&self.contents.path(name), name)?;
            }
        }
        Ok(Capsule {
            program: program.to_path_buf(),
            arguments: captured.arguments.clone(),
            environment: without_our_variables(captured.environment.clone()),
            directory: captured.directory.clone(),
            stdin,
            terminal: is_terminal,
            umask: Some(captured.umask),
            world,
            files: Vec::new(),
            named: None,
            channels,
            options: self.config.options.clone(),
        })
    }

    fn stdin(&self, captured: &Captured, place: &Place) -> io::Result<Stdin> {
        let stdin = &captured.stdin;
        match (stdin.nature, &stdin.content) {
            (StdinNature::Closed | StdinNature::Null, _) => Ok(Stdin::Null),
            (StdinNature::File, Some(name)) => {
                let content = fs::read(self.contents.path(name))?;
                place.keep_stdin(&content).map(Stdin::File)
            }
            (StdinNature::Terminal, _) if stdin.data.is_empty() => Ok(Stdin::Null),
            _ => place.keep_stdin(&stdin.data).map(Stdin::Pipe),
        }
    }
}
