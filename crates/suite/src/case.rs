//! A captured execution as a test case: what it is run again by.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nearmiss_abi::channel::ChannelKind;
use nearmiss_campaign::Capsule;
use nearmiss_campaign::Chance;
use nearmiss_campaign::Environment;
use nearmiss_campaign::TestCase;
use nearmiss_capture::{Captured, CapturedPath, Loss, Nature, Stdin as Fed};
use nearmiss_sandbox::Stdin;

use super::collector::{Candidate, contents_of, read};
use super::contents::Contents;
use super::programs::Programs;
use super::shelf::{Place, Shelf};
use super::skipped::Reason;
use super::{Config, variables, world};

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
        let captured = read(&candidate.record)?;
        let program = self.programs.file(&candidate.program)?;
        self.refuse_losses(&captured)?;
        let command: Vec<String> = captured
            .arguments
            .iter()
            .map(|argument| argument.display().to_string())
            .collect();
        let place = shelf.place(&candidate.digest, &command)?;
        let kept = variables::kept(
            variables_of(&captured),
            Some(&candidate.program.facts),
            Some(&captured),
            self.config.channels,
        );
        // Shared with the tests that have the same.
        let environment = shelf.share(kept.variables.into())?;
        let mut capsule = self.capsule(&captured, &program, &place, environment)?;
        capsule.variables = kept.why;
        capsule.write(&place.directory)?;
        Ok(TestCase {
            id: place.id,
            capsule,
            executions: candidate.executions,
            ended: candidate.ended.clone(),
            seconds: candidate.seconds,
            trace: None,
            calls: Vec::new(),
            reads_files: captured.paths.iter().any(is_read),
        })
    }

    /// What was not kept is no loss as long as the disk still has it.
    fn refuse_losses(&self, captured: &Captured) -> Result<(), Reason> {
        for lost in &captured.losses {
            let Some(path) = &lost.path else {
                return Err(match lost.loss {
                    Loss::TooManyPaths => Reason::TooManyFiles,
                    _ => Reason::StdinLost,
                });
            };
            let reason = match lost.loss {
                Loss::TooManyPaths => Reason::TooManyFiles,
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
        match contents_of(captured).all(|name| is_there(name)) {
            true => Ok(()),
            false => Err(Reason::NoRoom),
        }
    }

    fn capsule(
        &self,
        captured: &Captured,
        program: &Path,
        place: &Place,
        environment: Environment,
    ) -> io::Result<Capsule> {
        let is_terminal = matches!(captured.stdin, Fed::Terminal(_));
        let mut channels = self.config.channels;
        let stdin = self.stdin(captured, place)?;
        if is_terminal && stdin == Stdin::Null {
            // What a person types cannot be fed again.
            channels = channels.without(ChannelKind::Stdin);
        }
        let world = world::build(captured, |name| place.content(name));
        for name in world::contents(&world, &place.files()) {
            place.keep_content(&self.contents.path(name), name)?;
        }
        Ok(Capsule {
            program: program.to_path_buf(),
            stands_for: None,
            stand_ins: Vec::new(),
            arguments: captured.arguments.clone(),
            environment,
            directory: captured.directory.clone(),
            stdin,
            terminal: is_terminal,
            umask: Some(captured.umask),
            chance: Chance::of(captured),
            variables: String::new(),
            world,
            files: Vec::new(),
            named: None,
            channels,
            options: self.config.options.clone(),
        })
    }

    fn stdin(&self, captured: &Captured, place: &Place) -> io::Result<Stdin> {
        match &captured.stdin {
            Fed::Closed | Fed::Null | Fed::File(None) => Ok(Stdin::Null),
            Fed::File(Some(name)) => {
                let content = fs::read(self.contents.path(name))?;
                place.keep_stdin(&content).map(Stdin::File)
            }
            Fed::Terminal(data) if data.is_empty() => Ok(Stdin::Null),
            Fed::Pipe(data) | Fed::Terminal(data) | Fed::Other(data) => {
                place.keep_stdin(data).map(Stdin::Pipe)
            }
        }
    }
}

/// The environment, by names.
/// Whether the process was given data by a file.
fn is_read(path: &CapturedPath) -> bool {
    matches!(path.nature, Nature::File { content: Some(_) }) && path.size > 0
}

fn variables_of(captured: &Captured) -> Vec<(OsString, OsString)> {
    let split = |variable: &OsString| {
        let bytes = variable.as_bytes();
        // A name is not empty, whatever it starts with.
        let equals = bytes.iter().skip(1).position(|byte| *byte == b'=')? + 1;
        let text = |bytes: &[u8]| OsStr::from_bytes(bytes).to_os_string();
        Some((text(&bytes[..equals]), text(&bytes[equals + 1..])))
    };
    captured.environment.iter().filter_map(split).collect()
}
