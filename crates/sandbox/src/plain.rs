//! Running without a sandbox, by the user's own word: limits on time and output only.
//!
//! Input files still get their new content, and the old ones stay as they are: the program runs
//! in a *forest*, a directory that looks like the root of the file system. What leads to a
//! replaced file is a real directory in it, everything else a symbolic link to what is really
//! there. Arguments that name a replaced file in full are changed to its copy. A program that
//! finds the file by a full name from elsewhere sees the old content.
//!
//! The world ([`Spec::world`]) is not made: it would have to replace the user's own files. What
//! differs from it is reported as missing. The umask is set.
//!
//! Of the stand-ins ([`Spec::stand_ins`]) the program's own is executed in its place, and libraries are
//! found by `LD_LIBRARY_PATH`. What starts or loads an original by its path gets the original.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::symlink;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use crate::capture::Output;
use crate::spec::{Ended, Exceeded, Outcome, Replacement, Spec, Stdin, Used};
use crate::{SandboxError, stand_ins, sys, world};

/// Runs a program as any other child, in a process group of its own.
pub fn run(spec: &Spec) -> Result<Outcome, SandboxError> {
    if spec.files.is_empty() {
        return run_there(spec);
    }
    let forest = Forest::plant(spec)?;
    let mut moved = spec.clone();
    moved.directory = forest.place(&spec.directory);
    for argument in moved.arguments.iter_mut().skip(1) {
        if spec
            .files
            .iter()
            .any(|file| file.path == Path::new(argument))
        {
            *argument = forest.place(Path::new(argument)).into();
        }
    }
    run_there(&moved)
}

fn run_there(spec: &Spec) -> Result<Outcome, SandboxError> {
    let missing = world::differences(spec);
    let mut command = Command::new(spec.executed());
    command
        .args(spec.arguments.iter().skip(1))
        .env_clear()
        .envs(spec.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(&spec.directory)
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if let Some(path) = stand_ins::library_path(spec) {
        command.env("LD_LIBRARY_PATH", path);
    }
    if let Some(name) = spec.arguments.first() {
        command.arg0(name);
    }
    let mask = spec.umask;
    // SAFETY: the closure makes system calls and touches no memory of ours.
    unsafe {
        command.pre_exec(move || {
            mask.map(sys::set_umask);
            sys::fix_addresses();
            sys::die_with_parent()
        });
    }
    command.stdin(match &spec.stdin {
        Stdin::Null => Stdio::null(),
        Stdin::File(path) => File::open(path)?.into(),
        Stdin::Pipe(_) => Stdio::piped(),
    });
    let mut child = command
        .spawn()
        .map_err(|error| SandboxError::Start(error.to_string()))?;
    if let (Stdin::Pipe(path), Some(mut pipe)) = (&spec.stdin, child.stdin.take()) {
        let bytes = fs::read(path)?;
        // A program need not read all of its input: what it leaves is not an error.
        std::thread::spawn(move || pipe.write_all(&bytes));
    }
    let outcome = watch(child, spec)?;
    Ok(Outcome { missing, ..outcome })
}

/// Waits until a child ends or its time is up; its process group ends with it.
fn watch(mut child: Child, spec: &Spec) -> Result<Outcome, SandboxError> {
    let start = Instant::now();
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(io::Error::from(io::ErrorKind::BrokenPipe).into());
    };
    let mut output = Output::new(stdout.into(), stderr.into(), spec.limits.output);
    let process = sys::open_process(child.id())?;
    let is_in_time = output.read_until(&process, spec.limits.wall)?;
    // Before the child is waited for: until then nobody else can have its number.
    sys::kill_group(child.id());
    let status = child.wait()?;
    let elapsed = start.elapsed();
    let used = Used {
        elapsed,
        cpu: elapsed,
    };
    let captured = output.rest()?;
    let ended = match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Exited(code),
        (None, signal) => Ended::Signal(signal.unwrap_or(0)),
    };
    let exceeded = (!is_in_time).then_some(Exceeded::Time);
    Ok(captured.outcome(ended, exceeded, used))
}

/// A directory that looks like the root of the file system; it goes away with this value.
struct Forest {
    root: PathBuf,
}

impl Forest {
    fn plant(spec: &Spec) -> io::Result<Forest> {
        let forest = Forest {
            root: sys::temporary_directory()?,
        };
        forest.grow(&spec.directory)?;
        for Replacement { path, content } in &spec.files {
            let parent = path.parent().unwrap_or(Path::new("/"));
            forest.grow(parent)?;
            let place = forest.place(path);
            if fs::symlink_metadata(&place).is_ok() {
                fs::remove_file(&place)?;
            }
            fs::copy(content, &place)?;
        }
        Ok(forest)
    }

    fn place(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Makes a real directory of this and all above it.
    fn grow(&self, directory: &Path) -> io::Result<()> {
        let mut ancestors: Vec<&Path> = directory.ancestors().collect();
        ancestors.reverse();
        for original in ancestors {
            let place = self.place(original);
            let kind = fs::symlink_metadata(&place);
            if original != Path::new("/") && kind.is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            self.turn_into_directory(original, &place)?;
        }
        Ok(())
    }

    fn turn_into_directory(&self, original: &Path, place: &Path) -> io::Result<()> {
        if place != self.root {
            if fs::symlink_metadata(place).is_ok() {
                fs::remove_file(place)?;
            }
            fs::create_dir(place)?;
        }
        let names = fs::read_dir(original).into_iter().flatten().flatten();
        for name in names.map(|entry| -> OsString { entry.file_name() }) {
            if fs::symlink_metadata(place.join(&name)).is_err() {
                symlink(original.join(&name), place.join(&name))?;
            }
        }
        Ok(())
    }
}

impl Drop for Forest {
    fn drop(&mut self) {
        // What is left of it is of no use, but does no harm either. Links are not followed.
        let _ = fs::remove_dir_all(&self.root);
    }
}
