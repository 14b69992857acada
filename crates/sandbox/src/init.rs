//! Process 1 of the sandbox: starts the program, watches it, reaps what it leaves.
//!
//! The program is not process 1 itself, because the kernel shields that one from its own
//! signals: `abort` would not work. When process 1 ends, the kernel kills all others.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::endless;
use crate::forks::Lines;
use crate::ground::{Ground, Users};
use crate::launcher::say;
use crate::program::Program;
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

/// The kernel's limit on the numbers of processes.
const LARGEST_NUMBER: &str = "/proc/sys/kernel/pid_max";

/// What init knows.
pub(crate) struct Init<'a> {
    pub spec: &'a Spec,
    /// Directories in which the program may write.
    pub writable: Vec<PathBuf>,
    pub ground: &'a Ground,
    pub shared: &'a mut File,
}

impl Init<'_> {
    /// Runs the program to its end, or to its limits, and says how it went.
    pub fn run(&mut self, stdin: OpenStdin) {
        let report = self
            .start(stdin)
            .and_then(|pid| Watch::new(self.spec, Duration::ZERO).until_end(pid))
            .unwrap_or_else(|error| Report::NotStarted(error.to_string()));
        say(self.shared, &report);
    }

    fn start(&mut self, stdin: OpenStdin) -> io::Result<libc::pid_t> {
        let has_own_proc = self.mount_proc();
        // A process that feeds the program has its number before the program gets one.
        let input: OwnedFd = match stdin {
            OpenStdin::File(file) => file.into(),
            OpenStdin::Pipe(content) => feed(content)?,
        };
        let later = self.choose_number(has_own_proc);
        self.limit_by_kernel(later.is_none());
        if has_own_proc {
            // Root may write to much there, whatever its namespace.
            sys::make_read_only(Path::new("/proc"))?;
        }
        let program = self.start_program(&input, has_own_proc, None)?;
        if self.spec.proves_endless() {
            endless::hide_kernel_library(program)?;
        }
        if let Some(mut file) = later {
            // Children get small numbers, of which there are few.
            let _ = file.write_all(self.most_numbers().to_string().as_bytes());
        }
        Ok(program)
    }

    /// Starts the program; one that is to be forked has lines to us.
    pub fn start_program(
        &mut self,
        input: &OwnedFd,
        has_own_proc: bool,
        lines: Option<&Lines>,
    ) -> io::Result<libc::pid_t> {
        if has_own_proc {
            self.say_if_program_has_no_namespace();
        }
        sys::block_child_signal()?;
        sys::fork_sharing_memory(|| self.become_program(input, has_own_proc, lines))
    }

    fn say_if_program_has_no_namespace(&mut self) {
        if self.ground.users == Users::System && self.ground.user_namespace.is_none() {
            self.say_missing("a user namespace of the program's own");
        }
    }

    /// A container may forbid it; the old `/proc` serves, but then shows other processes.
    pub fn mount_proc(&mut self) -> bool {
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
    pub fn limit_by_kernel(&self, limit_numbers: bool) {
        let limits = &self.spec.limits;
        if limit_numbers {
            let _ = fs::write(LARGEST_NUMBER, self.most_numbers().to_string());
        }
        let settings = [
            ("/proc/sys/kernel/shmall", limits.scratch / 4096),
            // If memory gets short all the same, this is what may go.
            ("/proc/self/oom_score_adj", 1000),
        ];
        for (file, value) in settings {
            let _ = fs::write(file, value.to_string());
        }
    }

    /// The kernel takes no smaller number than 301.
    pub fn most_numbers(&self) -> u64 {
        self.spec.limits.processes_for_kernel().max(301)
    }

    /// The next process gets the number that the program had when it ran first: what it makes of
    /// that stays the same, and the number is good for `kill`. Gives the file that limits numbers, which
    /// must be written when the program has its own: from below, since `/proc` will be read-only.
    fn choose_number(&mut self, has_own_proc: bool) -> Option<File> {
        let number = self.spec.process.filter(|_| has_own_proc)?;
        let last = number.saturating_sub(1).to_string();
        fs::write("/proc/sys/kernel/ns_last_pid", last).ok()?;
        let file = File::options().write(true).open(LARGEST_NUMBER).ok()?;
        self.mount_proc().then_some(file)
    }

    fn become_program(&mut self, input: &OwnedFd, has_own_proc: bool, lines: Option<&Lines>) {
        let program = Program {
            spec: self.spec,
            writable: &self.writable,
            stdin: input.as_raw_fd(),
            umask: self.spec.umask.unwrap_or(self.ground.umask),
            user_namespace: self.ground.user_namespace.as_ref().filter(|_| has_own_proc),
            lines,
        };
        let shared = &mut *self.shared;
        let missing = |feature: &str| say(shared, &Report::Missing(feature.to_string()));
        let error = program.execute(missing);
        say(self.shared, &Report::NotStarted(error.to_string()));
    }

    fn say_missing(&mut self, feature: &str) {
        say(self.shared, &Report::Missing(feature.to_string()));
    }
}

/// What a new pipe holds without anybody reading from it.
const PIPE_CAPACITY: u64 = 1 << 16;

/// A pipe through which `content` comes: what does not fit in comes from a process of its own.
fn feed(mut content: File) -> io::Result<OwnedFd> {
    let (reading, writing) = sys::pipe()?;
    let mut writing = File::from(writing);
    if content.metadata()?.len() <= PIPE_CAPACITY {
        let mut bytes = Vec::new();
        content.take(PIPE_CAPACITY).read_to_end(&mut bytes)?;
        writing.write_all(&bytes)?;
    } else if sys::fork()? == 0 {
        drop(reading);
        // A program need not read all of its input.
        let _ = io::copy(&mut content, &mut writing);
        sys::end(0);
    }
    Ok(reading)
}
