//! Process 1 of the sandbox: starts the program, watches it, reaps what it leaves.
//!
//! The program is not process 1 itself, because the kernel shields that one from its own
//! signals: `abort` would not work. When process 1 ends, the kernel kills all others.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use crate::launcher::{Users, say};
use crate::program;
use crate::spec::{Report, Spec, Stdin};
use crate::sys;
use crate::watch::Watch;

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

/// What init knows.
pub(crate) struct Init<'a> {
    pub spec: &'a Spec,
    /// Directories in which the program may write.
    pub writable: Vec<PathBuf>,
    pub users: Users,
    pub shared: &'a mut File,
}

impl Init<'_> {
    /// Runs the program to its end, or to its limits, and says how it went.
    pub fn run(&mut self, stdin: OpenStdin) {
        let report = self
            .start(stdin)
            .and_then(|pid| Watch::new(self.spec).until_end(pid))
            .unwrap_or_else(|error| Report::NotStarted(error.to_string()));
        say(self.shared, &report);
    }

    fn start(&mut self, stdin: OpenStdin) -> io::Result<libc::pid_t> {
        sys::die_with_parent()?;
        sys::new_session()?;
        let has_own_proc = self.mount_proc();
        self.limit_by_kernel();
        sys::block_child_signal()?;
        let input: OwnedFd = match stdin {
            OpenStdin::File(file) => file.into(),
            OpenStdin::Pipe(content) => feed(content)?,
        };
        let (go, ready) = sys::pipe()?;
        let wants_namespace = has_own_proc && self.users == Users::System;
        let mut in_namespace = wants_namespace;
        let pid = match fork(&mut in_namespace)? {
            0 => {
                drop(ready);
                self.become_program(input, go)
            }
            pid => pid,
        };
        if wants_namespace && !in_namespace {
            self.say_missing("a user namespace of the program's own");
        }
        if in_namespace {
            map_all_identities(pid)?;
        }
        if has_own_proc {
            // Root may write to much there, whatever its namespace.
            sys::make_read_only(Path::new("/proc"))?;
        }
        drop(ready);
        Ok(pid)
    }

    /// A container may forbid it; the old `/proc` serves, but then shows other processes.
    fn mount_proc(&mut self) -> bool {
        let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
        let mounted = sys::mount("proc", Path::new("/proc"), flags, "").is_ok();
        if !mounted {
            self.say_missing(
                "a /proc of its own: other processes can be seen, memory is not limited",
            );
        }
        mounted
    }

    /// Limits that newer kernels keep themselves; where they do not, [`Watch`] sees it a little
    /// later.
    fn limit_by_kernel(&self) {
        let limits = &self.spec.limits;
        // The kernel takes no smaller number than this.
        let numbers = limits.processes_for_kernel().max(301);
        let settings = [
            ("/proc/sys/kernel/pid_max", numbers),
            ("/proc/sys/kernel/shmall", limits.scratch / 4096),
            // If memory gets short all the same, this is what may go.
            ("/proc/self/oom_score_adj", 1000),
        ];
        for (file, value) in settings {
            let _ = fs::write(file, value.to_string());
        }
    }

    fn become_program(&mut self, input: OwnedFd, go: OwnedFd) -> ! {
        // Ends when init has done its part.
        let _ = File::from(go).read(&mut [0]);
        let shared = &mut *self.shared;
        let missing = |feature: &str| say(shared, &Report::Missing(feature.to_string()));
        let error = program::execute(self.spec, &self.writable, input.as_raw_fd(), missing);
        say(self.shared, &Report::NotStarted(error.to_string()));
        std::process::exit(127);
    }

    fn say_missing(&mut self, feature: &str) {
        say(self.shared, &Report::Missing(feature.to_string()));
    }
}

/// Forks, into a user namespace if that can be had: root alone can do without.
fn fork(into_user_namespace: &mut bool) -> io::Result<libc::pid_t> {
    if *into_user_namespace {
        match sys::fork_into_user_namespace() {
            Ok(pid) => return Ok(pid),
            Err(_) => *into_user_namespace = false,
        }
    }
    sys::fork()
}

/// Everybody in the child's new user namespace is who they were.
fn map_all_identities(pid: libc::pid_t) -> io::Result<()> {
    for name in ["uid_map", "gid_map"] {
        let own = fs::read_to_string(format!("/proc/self/{name}"))?;
        fs::write(format!("/proc/{pid}/{name}"), identity_map(&own))?;
    }
    Ok(())
}

/// Each line of a map says: from this number, to that one outside, so many.
fn identity_map(own: &str) -> String {
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        let (first, count) = (words.next()?, words.nth(1)?);
        Some(format!("{first} {first} {count}\n"))
    };
    own.lines().filter_map(line).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_stay() {
        assert_eq!(
            identity_map("         0     100000      65536\n     70000  1000 1\n"),
            "0 0 65536\n70000 70000 1\n"
        );
    }
}
