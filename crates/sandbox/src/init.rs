//! Process 1 of the sandbox: starts the program, watches it, reaps what it leaves.
//!
//! The program is not process 1 itself, because the kernel shields that one from its own
//! signals: `abort` would not work. When process 1 ends, the kernel kills all others.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::time::Instant;

use crate::launcher::say;
use crate::program;
use crate::spec::{Ended, Report, Spec, Stdin};
use crate::sys;

/// The program's standard input, opened; a pipe still has to be fed.
pub(crate) enum OpenStdin {
    File(File),
    Pipe(File),
}

/// Opens the program's standard input.
pub(crate) fn open_stdin(spec: &Spec) -> io::Result<OpenStdin> {
    Ok(match &spec.stdin {
        Stdin::Null => OpenStdin::File(File::open("/dev/null")?),
        Stdin::File(path) => OpenStdin::File(File::open(path)?),
        Stdin::Pipe(path) => OpenStdin::Pipe(File::open(path)?),
    })
}

/// How often memory is looked at.
const PAUSE_MILLISECONDS: i64 = 50;

/// Runs the program to its end, or to its limits, and says how it went.
pub(crate) fn run(spec: &Spec, shared: &mut File, stdin: OpenStdin) {
    let report = start(spec, shared, stdin)
        .and_then(|pid| watch(spec, pid))
        .unwrap_or_else(|error| Report::NotStarted(error.to_string()));
    say(shared, &report);
}

fn start(spec: &Spec, shared: &mut File, stdin: OpenStdin) -> io::Result<libc::pid_t> {
    sys::die_with_parent()?;
    sys::new_session()?;
    // A container may forbid it; the old /proc serves, but then shows other processes.
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    let _ = sys::mount("proc", Path::new("/proc"), flags, "");
    sys::block_child_signal()?;
    let input: OwnedFd = match stdin {
        OpenStdin::File(file) => file.into(),
        OpenStdin::Pipe(content) => feed(content)?,
    };
    match sys::fork()? {
        0 => {
            let error = program::execute(spec, input.as_raw_fd());
            say(shared, &Report::NotStarted(error.to_string()));
            std::process::exit(127);
        }
        pid => Ok(pid),
    }
}

/// A pipe with a process that writes `content` into it.
fn feed(mut content: File) -> io::Result<OwnedFd> {
    let (reading, writing) = sys::pipe()?;
    if sys::fork()? == 0 {
        drop(reading);
        // A program need not read all of its input.
        let _ = io::copy(&mut content, &mut File::from(writing));
        std::process::exit(0);
    }
    Ok(reading)
}

fn watch(spec: &Spec, program: libc::pid_t) -> io::Result<Report> {
    let start = Instant::now();
    loop {
        while let Some((pid, status)) = sys::wait(-1, libc::WNOHANG)? {
            if pid == program {
                return Ok(ended(status));
            }
        }
        if start.elapsed() >= spec.limits.wall {
            return Ok(Report::OutOfTime);
        }
        if resident_memory() > spec.limits.memory {
            return Ok(Report::OutOfMemory);
        }
        let left = (spec.limits.wall.saturating_sub(start.elapsed())).as_millis() as i64 + 1;
        sys::wait_for_child(left.min(PAUSE_MILLISECONDS));
    }
}

fn ended(status: i32) -> Report {
    Report::Ended(if libc::WIFSIGNALED(status) {
        Ended::Signal(libc::WTERMSIG(status))
    } else {
        Ended::Exited(libc::WEXITSTATUS(status))
    })
}

/// Bytes of memory that all processes of the sandbox have, init too; 0 without a `/proc`.
fn resident_memory() -> u64 {
    if fs::read_link("/proc/self").ok().as_deref() != Some(Path::new("1")) {
        return 0;
    }
    let Ok(processes) = fs::read_dir("/proc") else {
        return 0;
    };
    let pages = |entry: fs::DirEntry| -> Option<u64> {
        entry.file_name().to_str()?.parse::<u32>().ok()?;
        let text = fs::read_to_string(entry.path().join("statm")).ok()?;
        text.split(' ').nth(1)?.parse().ok()
    };
    let total: u64 = processes.flatten().filter_map(pages).sum();
    total * 4096
}
