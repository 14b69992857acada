//! Watching the captures while the suite runs: what has ended is read and compared, and what is
//! the same as something before is removed at once, so that a long suite needs little room.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use nearmiss_abi::capture::{FILES, PROGRAM, RecordKind};
use nearmiss_campaign::tally::Tally;
use nearmiss_capture::{Captured, Meeting, Nature, Stdin};

use super::contents::Contents;
use super::identity;
use super::programs::{Programs, Seen};
use super::skipped::{Reason, SkipList};
use crate::SuiteTarget;

/// Time between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// What captures are called while and after they are written.
const RUNNING: &str = "capsule";
const KEPT: &str = "kept";

/// An execution that is different from all before it.
#[derive(Debug)]
pub struct Candidate {
    /// See [`identity::digest`].
    pub digest: String,
    /// What it left.
    pub record: PathBuf,
    /// The program it ran.
    pub program: Seen,
    /// When it started.
    pub started: SystemTime,
    /// How long it took.
    pub seconds: f64,
    /// How it ended.
    pub ended: String,
    /// How many executions were the same, with this one.
    pub executions: u64,
}

/// What was captured so far.
#[derive(Debug)]
pub struct Collector<'a> {
    /// Where programs capture into.
    pub captures: PathBuf,
    target: &'a SuiteTarget,
    tally: &'a Tally,
    meeting: &'a Meeting,
    /// The programs.
    pub programs: Programs,
    /// The different executions.
    pub candidates: Vec<Candidate>,
    /// Where each is, by its digest and its program's content.
    known: HashMap<(String, String), usize>,
    /// What they read.
    pub contents: Contents,
    /// Bytes of what else they left.
    used: u64,
    /// Whether programs are told to keep no more contents.
    is_full: bool,
    /// What is not looked at.
    pub skipped: SkipList,
    /// All executions.
    pub executions: u64,
}

impl<'a> Collector<'a> {
    /// Nothing yet.
    pub fn new(
        captures: &Path,
        programs: Programs,
        target: &'a SuiteTarget,
        meeting: &'a Meeting,
        tally: &'a Tally,
    ) -> Collector<'a> {
        Collector {
            captures: captures.to_path_buf(),
            target,
            tally,
            meeting,
            programs,
            candidates: Vec::new(),
            known: HashMap::new(),
            contents: Contents::new(captures.join(FILES)),
            used: 0,
            is_full: false,
            skipped: SkipList::default(),
            executions: 0,
        }
    }

    /// Collects until the suite has `ended`. `SIGTERM`, which only we have got, is handed on.
    pub fn watch(&mut self, ended: &AtomicBool, suite: i32) -> io::Result<()> {
        let mut handed_on = false;
        while !ended.load(Ordering::Acquire) {
            self.look(false)?;
            if self.target.terminate.load(Ordering::Relaxed) && !handed_on {
                // SAFETY: the suite's process is not reaped before `ended` is set, or a moment
                // before: its number is not given to another that fast.
                unsafe { libc::kill(suite, libc::SIGTERM) };
                handed_on = true;
            }
            std::thread::sleep(PAUSE);
        }
        self.look(true)
    }

    /// Takes all captures of processes that have ended; at the end of the suite the rest is told
    /// to be running still.
    fn look(&mut self, is_last: bool) -> io::Result<()> {
        for entry in fs::read_dir(&self.captures)? {
            let path = entry?.path();
            if path.extension() != Some(OsStr::new(RUNNING)) {
                continue;
            }
            if has_ended(&path) {
                self.take(&path);
            } else if is_last {
                self.count();
                self.skip(Reason::Running, &path);
            }
        }
        self.tally.tests.set(self.candidates.len() as u64);
        Ok(())
    }

    fn count(&mut self) {
        self.executions += 1;
        self.tally.executions.add(1);
    }

    /// Sorts one capture.
    fn take(&mut self, path: &Path) {
        self.count();
        let sorted = read(path).and_then(|captured| self.sort(path, &captured));
        if let Err(reason) = sorted {
            self.skip(reason, path);
        }
    }

    fn skip(&mut self, reason: Reason, record: &Path) {
        let example = || match read(record) {
            Ok(captured) => command_line(&captured.arguments),
            Err(_) => record.file_name().unwrap_or_default().display().to_string(),
        };
        self.skipped.add(reason, 1, example);
        // What a running process writes from now on goes nowhere.
        let _ = fs::remove_file(record);
    }

    fn sort(&mut self, path: &Path, captured: &Captured) -> Result<(), Reason> {
        let link = path.with_extension(PROGRAM);
        let program = self.programs.see(&captured.program, &link);
        let _ = fs::remove_file(link);
        let program = program?;
        for name in contents_of(captured) {
            // Without it, the test is told to lack it later.
            let _ = self.contents.see(name);
        }
        let content = |name: &OsStr| self.contents.digest(name);
        let directory = &self.target.directory;
        let digest = identity::digest(captured, &program.facts, directory, &content);
        let metadata = fs::metadata(path).map_err(|_| Reason::Unreadable)?;
        let key = (digest.clone(), program.facts.identity.clone());
        if let Some(index) = self.known.get(&key) {
            self.candidates[*index].executions += 1;
            let _ = fs::remove_file(path);
            return Ok(());
        }
        if self.candidates.len() as u64 >= self.target.tests {
            self.keep_no_more();
            return Err(Reason::TooManyTests);
        }
        self.used += metadata.len();
        if self.used + self.contents.used > self.target.disk {
            self.keep_no_more();
        }
        let record = self
            .captures
            .join(format!("{}.{KEPT}", self.candidates.len()));
        fs::rename(path, &record).map_err(|_| Reason::Unreadable)?;
        let (started, seconds) = times(&metadata);
        self.known.insert(key, self.candidates.len());
        self.candidates.push(Candidate {
            digest,
            record,
            program,
            started,
            seconds,
            ended: captured
                .ended
                .map_or("killed".to_string(), |status| format!("exit {status}")),
            executions: 1,
        });
        Ok(())
    }

    /// Tells programs that start from now on to keep no contents.
    fn keep_no_more(&mut self) {
        if !self.is_full {
            // If that fails, more is kept than was wanted; nothing is wrong.
            let _ = self.meeting.limit(0, 0);
            self.is_full = true;
        }
    }
}

/// Reads what a process left.
pub fn read(record: &Path) -> Result<Captured, Reason> {
    let captured = Captured::read(record).map_err(|_| Reason::Unreadable)?;
    let is_whole = |captured: &Captured| {
        !captured.program.as_os_str().is_empty() && !captured.directory.as_os_str().is_empty()
    };
    match captured {
        Some(captured) if is_whole(&captured) => Ok(captured),
        Some(_) => Err(Reason::Unreadable),
        // It has a beginning, but not one that we know.
        None if fs::metadata(record).is_ok_and(|metadata| metadata.len() > 0) => {
            Err(Reason::Version)
        }
        None => Err(Reason::Unreadable),
    }
}

/// The names of all contents that an execution needs.
pub fn contents_of(captured: &Captured) -> impl Iterator<Item = &OsString> {
    let names = captured.paths.iter().filter_map(|path| match &path.nature {
        Nature::File { content } => content.as_ref(),
        _ => None,
    });
    let stdin = match &captured.stdin {
        Stdin::File(name) => name.as_ref(),
        _ => None,
    };
    names.chain(stdin)
}

/// The command of an execution, for people.
pub fn command_line(arguments: &[OsString]) -> String {
    let words: Vec<String> = arguments
        .iter()
        .map(|argument| argument.display().to_string())
        .collect();
    words.join(" ")
}

/// Start and duration, from the first and the last write to the capture.
fn times(metadata: &Metadata) -> (SystemTime, f64) {
    let end = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    let start = metadata.created().unwrap_or(end);
    let seconds = end.duration_since(start).unwrap_or_default().as_secs_f64();
    (start, seconds)
}

/// Whether the process of a capture is through with it: it said so, is gone, or has become
/// another program.
fn has_ended(record: &Path) -> bool {
    says_end(record) || (!is_running(record) && fs::metadata(record).is_ok())
}

/// Whether the last record is the one that a process ends with.
fn says_end(record: &Path) -> bool {
    const SIZE: usize = 12;
    let tail = || -> io::Result<[u8; SIZE]> {
        let mut file = File::open(record)?;
        file.seek(SeekFrom::End(-(SIZE as i64)))?;
        let mut tail = [0; SIZE];
        file.read_exact(&mut tail)?;
        Ok(tail)
    };
    let head = [(RecordKind::End as u32).to_le_bytes(), 4u32.to_le_bytes()].concat();
    tail().is_ok_and(|tail| tail.starts_with(&head))
}

/// Whether the process that writes a capture still runs the program that it is of.
fn is_running(record: &Path) -> bool {
    let name = record.file_name().and_then(OsStr::to_str).unwrap_or("");
    let mut parts = name.split('.');
    let process = parts.next().unwrap_or("");
    let Ok(now) = fs::read_link(format!("/proc/{process}/exe")) else {
        return false;
    };
    // The next program in the same process has the next number.
    let number = parts.next().and_then(|part| part.parse::<u32>().ok());
    let next = format!("{process}.{}.{RUNNING}", number.unwrap_or(0) + 1);
    let is_same_program = match read(record) {
        Ok(captured) => is_program(&now, &captured.program),
        // It has only just begun to write.
        Err(_) => true,
    };
    is_same_program && !record.with_file_name(next).exists()
}

fn is_program(now: &Path, program: &Path) -> bool {
    let now = now.as_os_str().as_bytes();
    let now = now.strip_suffix(b" (deleted)").unwrap_or(now);
    now == program.as_os_str().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of this process: `Start`, `Program`, and `End` if so wanted.
    fn record(directory: &Path, name: &str, program: &Path, ended: bool) -> PathBuf {
        let mut bytes = Vec::new();
        let mut add = |kind: RecordKind, payload: &[u8]| {
            bytes.extend((kind as u32).to_le_bytes());
            bytes.extend((payload.len() as u32).to_le_bytes());
            bytes.extend(payload);
        };
        let version = nearmiss_abi::capture::CAPTURE_VERSION;
        let start = [version, 1, 1, 0o22].map(u32::to_le_bytes).concat();
        add(RecordKind::Start, &start);
        add(RecordKind::Program, program.as_os_str().as_encoded_bytes());
        add(RecordKind::Directory, b"/");
        if ended {
            add(RecordKind::End, &0i32.to_le_bytes());
        }
        let path = directory.join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    #[test]
    fn captures_end_with_their_process_or_its_program() {
        let directory = tempfile::tempdir().unwrap();
        let me = std::process::id();
        let this = std::env::current_exe().unwrap();
        let named = |name: &str, program: &Path, ended| {
            has_ended(&record(directory.path(), name, program, ended))
        };
        let mine = format!("{me}.capsule");
        assert!(named(&mine, &this, true), "it says so");
        assert!(!named(&mine, &this, false), "it runs");
        assert!(
            named(&mine, Path::new("/bin/other"), false),
            "it runs another program"
        );
        assert!(named("4194305.capsule", &this, false), "nobody runs");
        let empty = directory.path().join(&mine);
        fs::write(&empty, "").unwrap();
        assert!(!has_ended(&empty), "it has only just begun");
        record(directory.path(), &format!("{me}.1.capsule"), &this, false);
        assert!(named(&mine, &this, false), "it runs the program anew");
    }

    #[test]
    fn captures_of_other_versions_are_told_apart() {
        let directory = tempfile::tempdir().unwrap();
        let path = record(directory.path(), "1.capsule", Path::new("/p"), true);
        assert_eq!(read(&path).unwrap().program, Path::new("/p"));
        let mut bytes = fs::read(&path).unwrap();
        bytes[8] = 99;
        fs::write(&path, &bytes).unwrap();
        assert_eq!(read(&path).unwrap_err(), Reason::Version);
        fs::write(&path, "").unwrap();
        assert_eq!(read(&path).unwrap_err(), Reason::Unreadable);
    }
}
