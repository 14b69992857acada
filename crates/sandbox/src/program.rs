//! The last steps before the program takes over.

use std::ffi::CString;
use std::io;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::spec::Spec;
use crate::sys;

/// Becomes the program; returns only why it could not.
pub(crate) fn execute(spec: &Spec, stdin: RawFd) -> io::Error {
    match prepare(spec, stdin) {
        Ok(mut command) => command.exec(),
        Err(error) => error,
    }
}

fn prepare(spec: &Spec, stdin: RawFd) -> io::Result<Command> {
    sys::become_stdin(stdin)?;
    std::env::set_current_dir(&spec.directory)?;
    let limits = [
        (libc::RLIMIT_CPU, spec.limits.cpu_seconds),
        (libc::RLIMIT_FSIZE, spec.limits.file_size),
        (libc::RLIMIT_NPROC, spec.limits.processes),
        (libc::RLIMIT_CORE, 0),
    ];
    for (resource, most) in limits {
        sys::limit(resource, most)?;
    }
    sys::drop_privileges()?;
    sys::unblock_signals()?;
    // Checked here, where the error says what is wrong.
    CString::new(spec.program.as_os_str().as_bytes())?;
    let mut command = Command::new(&spec.program);
    command
        .args(spec.arguments.iter().skip(1))
        .env_clear()
        .envs(spec.environment.iter().map(|(name, value)| (name, value)));
    if let Some(name) = spec.arguments.first() {
        command.arg0(name);
    }
    Ok(command)
}
