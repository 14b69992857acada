//! The last steps before the program takes over.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::fd::{OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::forks::Lines;
use crate::spec::Spec;
use crate::{landlock, seccomp, sys};

/// A program that is about to start.
pub(crate) struct Program<'a> {
    pub spec: &'a Spec,
    /// Directories in which it may write.
    pub writable: &'a [PathBuf],
    pub stdin: RawFd,
    pub umask: u32,
    /// The user namespace that it is to enter.
    pub user_namespace: Option<&'a OwnedFd>,
    /// The lines of a program that is to be forked.
    pub lines: Option<&'a Lines>,
}

impl Program<'_> {
    /// Becomes the program; returns only why it could not. `missing` hears of lines of defence
    /// that the kernel does not have.
    pub fn execute(&self, missing: impl FnMut(&str)) -> io::Error {
        match self.prepare(missing) {
            Ok(_) if self.spec.is_probe() => sys::end(0),
            Ok(image) => sys::execute(&image.program, &image.arguments, &image.environment),
            Err(error) => error,
        }
    }

    fn prepare(&self, mut missing: impl FnMut(&str)) -> io::Result<Image> {
        let spec = self.spec;
        if let Some(namespace) = self.user_namespace {
            sys::enter_user_namespace(namespace)?;
        }
        sys::become_standard(self.stdin, 0)?;
        // Apart from init, also in the eyes of the scheduler.
        sys::new_session()?;
        std::env::set_current_dir(&spec.directory)?;
        limit_resources(spec)?;
        sys::set_umask(self.umask);
        // What a program does may depend on where it lies: its second run must be like its first.
        sys::fix_addresses();
        sys::drop_privileges()?;
        sys::unblock_signals()?;
        let image = Image::new(spec)?;
        sys::close_others_on_exec()?;
        self.lines.map_or(Ok(()), Lines::hand_over)?;
        landlock::confine(self.writable)?
            .into_iter()
            .for_each(&mut missing);
        if seccomp::confine().is_err() {
            missing("filters of system calls (seccomp)");
        }
        if spec.proves_endless() {
            sys::trace_me()?;
        }
        Ok(image)
    }
}

fn limit_resources(spec: &Spec) -> io::Result<()> {
    let limits = &spec.limits;
    let limits = [
        (libc::RLIMIT_CPU, limits.cpu_seconds),
        (libc::RLIMIT_FSIZE, limits.file_size),
        (libc::RLIMIT_NPROC, limits.processes_for_kernel()),
        (libc::RLIMIT_NOFILE, limits.open_files),
        (libc::RLIMIT_STACK, limits.stack),
    ];
    for (resource, most) in limits {
        sys::limit(resource, most)?;
    }
    sys::leave_no_core()
}

/// What the kernel is told of a program.
struct Image {
    program: CString,
    arguments: Vec<CString>,
    environment: Vec<CString>,
}

impl Image {
    fn new(spec: &Spec) -> io::Result<Image> {
        let string = |bytes: &OsStr| CString::new(bytes.as_bytes());
        let variable = |(name, value): &(OsString, OsString)| {
            let mut entry = name.clone();
            entry.push("=");
            entry.push(value);
            string(&entry)
        };
        let arguments = spec.arguments.iter().map(|argument| string(argument));
        let environment = spec.environment.iter().map(variable);
        Ok(Image {
            program: string(spec.program.as_os_str())?,
            arguments: arguments.collect::<Result<_, _>>()?,
            environment: environment.collect::<Result<_, _>>()?,
        })
    }
}
