//! Process 1 of a sandbox whose program is forked for every run: `nearmiss_abi::forks` has what it says
//! to the program.
//!
//! All runs see one file system, one after the other. That is right as long as none changes it: what a
//! run leaves (files, processes, shared memory, queues) is looked for after each, and a sandbox in
//! which anything is left is not used again. Input files are written before each run.

use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nearmiss_abi::forks::{CONTROL, DESCRIPTORS, RUNS, Run, UNKNOWN};

use crate::init::Init;
use crate::launcher::say;
use crate::mounts;
use crate::server::{LAST, RAN, READY, TURN};
use crate::spec::{Report, Spec, Turn};
use crate::sys;
use crate::watch::{self, Watch};

/// How long the constructors of a program may take.
const START_TIME: Duration = Duration::from_secs(10);
/// How long to wait for processes that were killed, in milliseconds.
const PATIENCE: u32 = 2000;

/// A program that waits to be forked.
pub(crate) struct Forks {
    /// The program, and how its runs are limited.
    spec: Spec,
    program: libc::pid_t,
    control: OwnedFd,
    runs: OwnedFd,
    numbers: Numbers,
    remains: Remains,
    /// What was in the layers before the run that is under way.
    before: Vec<Entry>,
    /// CPU time that earlier runs were told to have used up.
    told: Duration,
}

/// The ends of the lines to a program, while it is started.
pub(crate) struct Lines {
    control: OwnedFd,
    runs: OwnedFd,
    /// The program's own ends.
    theirs: [OwnedFd; 2],
}

impl Lines {
    pub fn new() -> io::Result<Lines> {
        let (control, their_control) = sys::socket_pair()?;
        let (runs, their_runs) = sys::socket_pair()?;
        Ok(Lines {
            control,
            runs,
            theirs: [their_control, their_runs],
        })
    }

    /// In the program to be: its ends get their numbers.
    pub fn hand_over(&self) -> io::Result<()> {
        for (end, number) in self.theirs.iter().zip([CONTROL, RUNS]) {
            sys::become_descriptor(end, number)?;
        }
        Ok(())
    }
}

impl Forks {
    /// Starts the program, and waits until it is ready; or says why it cannot be forked.
    pub fn start(init: &mut Init<'_>, layers: Vec<File>) -> io::Result<Forks> {
        let numbers = Numbers::open(init)?;
        let remains = Remains::look_after(layers)?;
        let before = remains.entries()?;
        let lines = Lines::new()?;
        let input: OwnedFd = File::open("/dev/null")?.into();
        let program = init.start_program(&input, true, Some(&lines))?;
        let Lines { control, runs, .. } = lines;
        let forks = Forks {
            spec: init.spec.clone(),
            program,
            control,
            runs,
            numbers,
            remains,
            before,
            told: Duration::ZERO,
        };
        forks.wait_ready()?;
        Ok(forks)
    }

    /// A program that did something before `main` which its runs would share is not forked.
    fn wait_ready(&self) -> io::Result<()> {
        let [is_said] = sys::wait_readable([self.control.as_raw_fd()], START_TIME)?;
        if !is_said || sys::receive_number(&self.control) != Some(0) {
            return Err(io::Error::other("it does not come to main"));
        }
        let process = PathBuf::from(format!("/proc/{}", self.program));
        if fs::read_dir(process.join("task"))?.count() != 1 {
            return Err(io::Error::other("it has threads before main"));
        }
        for entry in fs::read_dir(process.join("fd"))? {
            if !self.is_shared(&entry?.path()) {
                return Err(io::Error::other("it has files open before main"));
            }
        }
        if self.remains.entries()? != self.before {
            return Err(io::Error::other("it writes files before main"));
        }
        Ok(())
    }

    /// Whether runs may share what the program has open: its lines, and what is kept of all runs anyway.
    fn is_shared(&self, descriptor: &Path) -> bool {
        let number = descriptor
            .file_name()
            .and_then(|name| name.to_str()?.parse().ok());
        let target = fs::read_link(descriptor).unwrap_or_default();
        number.is_some_and(|number: RawFd| number <= 2 || [CONTROL, RUNS].contains(&number))
            || (self.spec.writable.iter()).any(|place| target.starts_with(place))
    }

    /// Answers requests until a run leaves something, or none come any more.
    pub fn serve(&mut self, line: &OwnedFd) -> io::Result<()> {
        sys::send_byte(line, READY)?;
        let mut waiting = self.fork(self.spec.process)?;
        while let Some((TURN, descriptors)) = sys::receive_message(line)? {
            let mut descriptors = descriptors.into_iter();
            let Some(shared) = descriptors.next() else {
                break;
            };
            let mut shared = File::from(shared);
            let report = self
                .turn(&mut shared, descriptors.collect(), waiting)
                .unwrap_or_else(|error| Report::NotStarted(error.to_string()));
            let has_ended = matches!(report, Report::Ended(..));
            say(&mut shared, &report);
            if !has_ended || !self.is_clean()? {
                return sys::send_byte(line, LAST);
            }
            sys::send_byte(line, RAN)?;
            waiting = self.fork(self.spec.process)?;
        }
        Ok(())
    }

    /// Has the program make a run, which waits for what it is given.
    fn fork(&mut self, process: Option<u32>) -> io::Result<libc::pid_t> {
        let number = process.unwrap_or(self.program as u32 + 1);
        self.numbers.choose(number)?;
        sys::send_byte(&self.control, 0)?;
        let said = sys::receive_number(&self.control);
        self.numbers.limit();
        match said {
            Some(run) if run as u32 == number => Ok(run),
            Some(run) if run > 0 => Err(io::Error::other("its number is taken")),
            _ => Err(io::Error::other("it cannot be forked")),
        }
    }

    /// One run, whose process waits.
    fn turn(
        &mut self,
        shared: &mut File,
        descriptors: Vec<OwnedFd>,
        mut waiting: libc::pid_t,
    ) -> io::Result<Report> {
        let turn: Turn = read(shared)?;
        if descriptors.len() != DESCRIPTORS + self.spec.files.len() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if turn.process != self.spec.process {
            sys::kill(waiting);
            sys::wait(waiting, 0)?;
            self.spec.process = turn.process;
            waiting = self.fork(turn.process)?;
        }
        let contents = descriptors[DESCRIPTORS..].iter();
        for (file, content) in self.spec.files.iter().zip(contents) {
            if !self.spec.has_stand_in_at(&file.path) {
                mounts::write_content(&file.path, &File::from(content.try_clone()?))?;
            }
        }
        if !self.spec.files.is_empty() {
            self.before = self.remains.entries()?;
        }
        self.spec.limits = turn.limits.clone();
        sys::limit_time_of(waiting, turn.limits.cpu_seconds);
        let standard: Vec<RawFd> = descriptors[..DESCRIPTORS]
            .iter()
            .map(AsRawFd::as_raw_fd)
            .collect();
        sys::send_message(&self.runs, &words(&turn), &standard)?;
        drop(descriptors);
        let report = Watch::new(&self.spec, self.told).until_end(waiting);
        self.told = sys::cpu_time();
        report
    }

    /// Whether the last run left nothing; what of its processes is left is ended.
    fn is_clean(&mut self) -> io::Result<bool> {
        let are_ended =
            self.numbers.are_used(self.spec.process, self.program)? || self.end_others();
        Ok(are_ended && self.remains.are_none() && self.remains.entries()? == self.before)
    }

    fn end_others(&self) -> bool {
        let is_other = |process: &PathBuf| {
            let number = process.file_name().and_then(|name| name.to_str());
            number != Some(self.program.to_string().as_str())
        };
        for _ in 0..PATIENCE {
            let others: Vec<PathBuf> = watch::processes().filter(is_other).collect();
            if others.is_empty() {
                return true;
            }
            for other in others {
                let number = other
                    .file_name()
                    .and_then(|name| name.to_str()?.parse().ok());
                number.into_iter().for_each(sys::kill);
            }
            std::thread::sleep(Duration::from_millis(1));
            while let Ok(Some(_)) = sys::wait(-1, libc::WNOHANG) {}
        }
        false
    }
}

fn read(shared: &mut File) -> io::Result<Turn> {
    shared.rewind()?;
    let mut text = Vec::new();
    shared.read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

/// What a run is given, as the program reads it.
fn words(turn: &Turn) -> Vec<u8> {
    let run = Run {
        stdin_size: turn.stdin_size.unwrap_or(UNKNOWN),
        arguments: turn.arguments.len() as u64,
    };
    let mut bytes = run.to_bytes().to_vec();
    for argument in &turn.arguments {
        bytes.extend(argument.as_bytes());
        bytes.push(0);
    }
    bytes
}

/// The numbers of processes: each run has the one that it asks for.
struct Numbers {
    last: File,
    largest: File,
    usual: String,
    most: u64,
}

impl Numbers {
    /// Opened from a `/proc` beneath the one that the program sees, which is read-only.
    fn open(init: &mut Init<'_>) -> io::Result<Numbers> {
        let open = |name: &str| {
            let path = Path::new("/proc/sys/kernel").join(name);
            File::options().read(true).write(true).open(path)
        };
        if !init.mount_proc() {
            return Err(io::Error::other("there is no /proc of its own"));
        }
        let (last, largest) = (open("ns_last_pid")?, open("pid_max")?);
        let usual = text_of(&largest)?;
        init.limit_by_kernel(true);
        if !init.mount_proc() {
            return Err(io::Error::other("there is no /proc of its own"));
        }
        sys::make_read_only(Path::new("/proc"))?;
        Ok(Numbers {
            last,
            largest,
            usual,
            most: init.most_numbers(),
        })
    }

    /// The next process gets this number.
    fn choose(&self, number: u32) -> io::Result<()> {
        if u64::from(number) > self.most {
            self.largest.write_at(self.usual.as_bytes(), 0)?;
        }
        let last = number.saturating_sub(1).to_string();
        self.last.write_at(last.as_bytes(), 0).map(drop)
    }

    /// Children get small numbers, of which there are few.
    fn limit(&self) {
        let _ = self.largest.write_at(self.most.to_string().as_bytes(), 0);
    }

    /// Whether no process was made after the run.
    fn are_used(&self, process: Option<u32>, program: libc::pid_t) -> io::Result<bool> {
        let run = process.unwrap_or(program as u32 + 1);
        Ok(text_of(&self.last)?.trim() == run.to_string())
    }
}

fn text_of(file: &File) -> io::Result<String> {
    let mut bytes = [0; 4096];
    let size = file.read_at(&mut bytes, 0)?;
    Ok(String::from_utf8_lossy(&bytes[..size]).into_owned())
}

/// Something in a layer: its path, and all that changes with it.
type Entry = (PathBuf, [i64; 8]);

/// Where a run may leave something.
struct Remains {
    layers: Vec<File>,
    /// The kernel's lists of shared memory, queues and semaphores, which begin with a line of titles.
    lists: Vec<File>,
    /// Queues that have names.
    queues: Option<OwnedFd>,
}

impl Remains {
    fn look_after(layers: Vec<File>) -> io::Result<Remains> {
        let lists = ["shm", "msg", "sem"].map(|name| Path::new("/proc/sysvipc").join(name));
        let lists = lists.iter().filter(|list| list.exists()).map(File::open);
        Ok(Remains {
            layers,
            lists: lists.collect::<Result<_, _>>()?,
            queues: sys::detached("mqueue").ok(),
        })
    }

    /// Whether there is nothing but files.
    fn are_none(&self) -> bool {
        let is_empty = |list: &File| text_of(list).is_ok_and(|text| text.lines().count() <= 1);
        let is_bare =
            |path: PathBuf| fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
        self.lists.iter().all(is_empty)
            && is_bare("/dev/shm".into())
            && self.queues.iter().all(|queues| is_bare(opened(queues)))
    }

    /// What is in the layers.
    fn entries(&self) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for layer in &self.layers {
            gather(&opened(layer).join("."), &mut entries)?;
        }
        Ok(entries)
    }
}

/// A name for something that is open, whether or not it is in sight.
fn opened(file: &impl AsRawFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

fn gather(path: &Path, entries: &mut Vec<Entry>) -> io::Result<()> {
    let it = fs::symlink_metadata(path)?;
    let (size, inode) = match it.is_dir() {
        true => (0, it.ino()),
        false => (it.size(), it.ino()),
    };
    let words = [
        i64::from(it.mode()),
        i64::from(it.uid()) << 32 | i64::from(it.gid()),
        inode as i64,
        size as i64,
        it.mtime(),
        it.mtime_nsec(),
        it.ctime(),
        it.ctime_nsec(),
    ];
    entries.push((path.to_path_buf(), words));
    if it.is_dir() {
        let mut names: Vec<PathBuf> = fs::read_dir(path)?
            .map(|entry| Ok(entry?.path()))
            .collect::<io::Result<_>>()?;
        names.sort();
        for name in names {
            gather(&name, entries)?;
        }
    }
    Ok(())
}
