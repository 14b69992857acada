//! Looks after the program's limits: what the kernel does not keep for a whole tree of processes
//! is looked at every few milliseconds, and all of it ended when it is too much.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::endless::{Search, Seen};
use crate::spec::{Ended, Exceeded, Limits, Report, Spec, Used};
use crate::sys;

/// How long to wait before the first look, and at most between two.
const PAUSES: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(40));

/// Watches one program.
pub(crate) struct Watch<'a> {
    limits: &'a Limits,
    kept: &'a [PathBuf],
    memory: u64,
    start: Instant,
    /// CPU time that was used up before, and is not this program's.
    before: Duration,
}

impl<'a> Watch<'a> {
    /// Its time starts now; what init and its children had used up `before` is not its own.
    pub fn new(spec: &'a Spec, before: Duration) -> Watch<'a> {
        Watch {
            limits: &spec.limits,
            kept: &spec.writable,
            memory: spec.limits.memory.min(sys::machine_memory() / 2),
            start: Instant::now(),
            before,
        }
    }

    /// Waits until the program ends or must be ended. The caller ends all that is left.
    pub fn until_end(&self, program: libc::pid_t) -> io::Result<Report> {
        let exceeded = |limit| Report::Exceeded(limit, self.used());
        let has_own_proc = fs::read_link("/proc/self").is_ok_and(|it| it == Path::new("1"));
        let mut pause = PAUSES.0;
        // Children that end all the time must not keep us from looking.
        let mut next_look = Instant::now() + pause;
        let mut endless = Search::new(self.limits.endless.filter(|_| has_own_proc));
        let mut is_asked = false;
        loop {
            while let Some((pid, status)) = sys::wait(-1, libc::WNOHANG)? {
                if pid == program {
                    return Ok(self.end(status, is_asked));
                }
            }
            let now = Instant::now();
            let left = self.limits.wall.saturating_sub(self.start.elapsed());
            if left.is_zero() {
                return Ok(exceeded(Exceeded::Time));
            }
            if now >= next_look {
                if has_own_proc && let Some(limit) = self.look() {
                    return Ok(exceeded(limit));
                }
                match endless.look(program)? {
                    Seen::Nothing if endless.is_over() => return Ok(exceeded(Exceeded::Time)),
                    Seen::Nothing => {}
                    Seen::Endless => return Ok(exceeded(Exceeded::Endless)),
                    Seen::Asked => is_asked = true,
                    Seen::Ended(status) => return Ok(self.end(status, is_asked)),
                }
                pause = (pause * 2).min(PAUSES.1);
                next_look = Instant::now() + pause;
            }
            sys::wait_for_child(left.min(next_look - now));
        }
    }

    fn used(&self) -> Used {
        Used {
            elapsed: self.start.elapsed(),
            cpu: sys::cpu_time().saturating_sub(self.before),
        }
    }

    /// How it ended, by itself or because it was told to say where it is.
    fn end(&self, status: i32, is_asked: bool) -> Report {
        match is_asked {
            true => Report::Exceeded(Exceeded::Endless, self.used()),
            false => Report::Ended(ended(status), self.used()),
        }
    }

    fn look(&self) -> Option<Exceeded> {
        // Counted first, because each look at one takes time that init may hardly get when there
        // are too many.
        let processes: Vec<PathBuf> = processes().collect();
        if processes.len() as u64 >= self.limits.processes {
            return Some(Exceeded::Processes);
        }
        let used = Resources::by_all(&processes);
        if used.threads >= self.limits.processes {
            return Some(Exceeded::Processes);
        }
        // Pages that processes share were counted for each: ask more closely.
        if used.memory > self.memory && Resources::memory_closely(&processes) > self.memory {
            return Some(Exceeded::Memory);
        }
        let kept: u64 = self.kept.iter().map(|place| disk_use(place)).sum();
        (kept > self.limits.kept).then_some(Exceeded::Disk)
    }
}

fn ended(status: i32) -> Ended {
    if libc::WIFSIGNALED(status) {
        Ended::Signal(libc::WTERMSIG(status))
    } else {
        Ended::Exited(libc::WEXITSTATUS(status))
    }
}

/// What processes of the sandbox use.
#[derive(Debug, Default, PartialEq, Eq)]
struct Resources {
    threads: u64,
    memory: u64,
}

impl Resources {
    fn by_all(processes: &[PathBuf]) -> Resources {
        let mut sum = Resources::default();
        for process in processes {
            let text = fs::read_to_string(process.join("stat")).unwrap_or_default();
            let one = Resources::parse(&text).unwrap_or_default();
            sum.threads += one.threads;
            sum.memory += one.memory + memory_files(process);
        }
        sum
    }

    /// `2 (name) S …`: field 20 has the threads, field 24 the resident pages.
    fn parse(stat: &str) -> Option<Resources> {
        let (_, fields) = stat.rsplit_once(')')?;
        let mut fields = fields.split_whitespace();
        let threads = fields.nth(17)?.parse().ok()?;
        let pages: u64 = fields.nth(3)?.parse().ok()?;
        Some(Resources {
            threads,
            memory: pages * 4096,
        })
    }

    /// Memory of all, with each shared page shared out.
    fn memory_closely(processes: &[PathBuf]) -> u64 {
        let share = |process: &PathBuf| -> Option<u64> {
            let text = fs::read_to_string(process.join("smaps_rollup")).ok()?;
            let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
            let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().ok()?;
            Some(kilobytes * 1024 + memory_files(process))
        };
        processes.iter().filter_map(share).sum()
    }
}

/// All of the sandbox but init.
pub(crate) fn processes() -> impl Iterator<Item = PathBuf> {
    let is_process = |entry: &fs::DirEntry| {
        let number = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        number.is_some_and(|number: u32| number > 1)
    };
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter(is_process).map(|entry| entry.path())
}

/// Bytes of files that live in memory only, and which no resident page may tell of.
fn memory_files(process: &Path) -> u64 {
    let size = |entry: fs::DirEntry| -> Option<u64> {
        let target = fs::read_link(entry.path()).ok()?;
        let is_memory = target
            .as_os_str()
            .as_encoded_bytes()
            .starts_with(b"/memfd:");
        is_memory.then(|| fs::metadata(entry.path()).map_or(0, |file| file.blocks() * 512))
    };
    let entries = fs::read_dir(process.join("fd")).into_iter().flatten();
    entries.flatten().filter_map(size).sum()
}

/// Bytes that a directory takes on the disk.
fn disk_use(directory: &Path) -> u64 {
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => disk_use(&entry.path()),
        Ok(metadata) => metadata.blocks() * 512,
        Err(_) => 0,
    };
    let entries = fs::read_dir(directory).into_iter().flatten();
    entries.flatten().map(size).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_stat() {
        let line = "7 (a) b) S 1 7 1 0 -1 4194560 131 0 0 0 1 2 3 4 20 0 9 0 60 3162112 5 \
                    18446744073709551615 1 1";
        let expected = Resources {
            threads: 9,
            memory: 5 * 4096,
        };
        assert_eq!(Resources::parse(line), Some(expected));
        assert_eq!(Resources::parse("7 (a) S 1"), None);
    }
}
