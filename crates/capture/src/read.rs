//! A capsule's log, read.
//!
//! A log ends where the process was killed, or where the disk was full: whatever is there is
//! taken, and what is cut off is not.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use nearmiss_abi::capture::{CAPTURE_VERSION, Loss, RecordKind, StdinNature};

use crate::path::{self, CapturedPath};

/// What a process left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Captured {
    /// Its number.
    pub pid: u32,
    /// Its parent's number when it started.
    pub parent: u32,
    /// Its umask.
    pub umask: u32,
    /// The file of the program.
    pub program: PathBuf,
    /// Its working directory.
    pub directory: PathBuf,
    /// Its arguments, its name first.
    pub arguments: Vec<OsString>,
    /// Its environment, `NAME=value` each.
    pub environment: Vec<OsString>,
    /// Its standard input.
    pub stdin: Stdin,
    /// The paths it used, each once, in the order of first use.
    pub paths: Vec<CapturedPath>,
    /// What was not kept.
    pub losses: Vec<Lost>,
    /// Its status, if it ended by itself: not by a signal, and not by executing another
    /// program.
    pub ended: Option<i32>,
    /// What it got by chance, in order.
    pub chance: Vec<Chance>,
}

/// A value that a process got by chance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chance {
    /// The process: see [`nearmiss_abi::chance`].
    pub process: u32,
    /// The stream.
    pub name: String,
    /// Its next bytes.
    pub bytes: Vec<u8>,
}

/// What standard input was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stdin {
    /// Not open.
    Closed,
    /// `/dev/null`.
    Null,
    /// A file; the name of its content among the files, from where the process started, if it
    /// was kept.
    File(Option<OsString>),
    /// A pipe: what was read from it.
    Pipe(Vec<u8>),
    /// A terminal: what was read from it.
    Terminal(Vec<u8>),
    /// Something else: what was read from it.
    Other(Vec<u8>),
}

/// Something that was not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Why.
    pub loss: Loss,
    /// Of what; none: standard input or everything.
    pub path: Option<PathBuf>,
}

impl Captured {
    /// Reads the log of one process. `None` if that does not even begin, or is of another
    /// version.
    pub fn read(log: &Path) -> io::Result<Option<Captured>> {
        Ok(Captured::parse(&fs::read(log)?))
    }

    /// Likewise from its bytes.
    pub fn parse(log: &[u8]) -> Option<Captured> {
        let mut records = Records(log);
        let (first, payload) = records.next()?;
        if first != RecordKind::Start as u32 || number(payload, 0)? != CAPTURE_VERSION {
            return None;
        }
        let mut captured = Captured {
            pid: number(payload, 1)?,
            parent: number(payload, 2)?,
            umask: number(payload, 3)?,
            program: PathBuf::new(),
            directory: PathBuf::new(),
            arguments: Vec::new(),
            environment: Vec::new(),
            stdin: Stdin::Closed,
            paths: Vec::new(),
            losses: Vec::new(),
            ended: None,
            chance: Vec::new(),
        };
        for (kind, payload) in records {
            if let Some(kind) = RecordKind::from_code(kind) {
                captured.add(kind, payload);
            }
        }
        captured.paths = path::merge(captured.paths);
        Some(captured)
    }

    fn add(&mut self, kind: RecordKind, payload: &[u8]) {
        let text = || OsString::from_vec(payload.to_vec());
        match kind {
            RecordKind::Start => {}
            RecordKind::Program => self.program = text().into(),
            RecordKind::Directory => self.directory = text().into(),
            RecordKind::Argument => self.arguments.push(text()),
            RecordKind::Variable => self.environment.push(text()),
            RecordKind::Stdin => {
                if let Some(stdin) = parse_stdin(payload) {
                    self.stdin = stdin;
                }
            }
            RecordKind::StdinData => match &mut self.stdin {
                Stdin::Pipe(data) | Stdin::Terminal(data) | Stdin::Other(data) => {
                    data.extend(payload);
                }
                Stdin::Closed | Stdin::Null | Stdin::File(_) => {}
            },
            RecordKind::Path => self.paths.extend(CapturedPath::parse(payload)),
            RecordKind::Lost => self.losses.extend(parse_loss(payload)),
            RecordKind::End => self.ended = number(payload, 0).map(|status| status as i32),
            RecordKind::Chance => self.chance.extend(parse_chance(payload)),
        }
    }
}

fn parse_stdin(payload: &[u8]) -> Option<Stdin> {
    let name = payload.get(4..).filter(|name| !name.is_empty());
    Some(match StdinNature::from_code(number(payload, 0)?)? {
        StdinNature::Closed => Stdin::Closed,
        StdinNature::Null => Stdin::Null,
        StdinNature::File => Stdin::File(name.map(|name| OsStr::from_bytes(name).into())),
        StdinNature::Pipe => Stdin::Pipe(Vec::new()),
        StdinNature::Terminal => Stdin::Terminal(Vec::new()),
        StdinNature::Other => Stdin::Other(Vec::new()),
    })
}

fn parse_loss(payload: &[u8]) -> Option<Lost> {
    let path = payload.get(4..).filter(|path| !path.is_empty());
    Some(Lost {
        loss: Loss::from_code(number(payload, 0)?)?,
        path: path.map(|path| OsStr::from_bytes(path).into()),
    })
}

fn parse_chance(payload: &[u8]) -> Option<Chance> {
    let (process, size) = (number(payload, 0)?, number(payload, 1)? as usize);
    let (name, bytes) = payload.get(8..)?.split_at_checked(size)?;
    Some(Chance {
        process,
        name: String::from_utf8(name.to_vec()).ok()?,
        bytes: bytes.to_vec(),
    })
}

/// The `index`th four bytes of a payload.
fn number(payload: &[u8], index: usize) -> Option<u32> {
    let bytes = payload.get(index * 4..index * 4 + 4)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

/// The records of a log that are there as a whole.
struct Records<'a>(&'a [u8]);

impl<'a> Iterator for Records<'a> {
    type Item = (u32, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let (kind, size) = (number(self.0, 0)?, number(self.0, 1)?);
        let (payload, rest) = self.0.get(8..)?.split_at_checked(size as usize)?;
        self.0 = rest;
        Some((kind, payload))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::Nature;
    use nearmiss_abi::capture::PathNature;

    fn record(kind: RecordKind, parts: &[&[u8]]) -> Vec<u8> {
        let payload = parts.concat();
        let mut record = (kind as u32).to_le_bytes().to_vec();
        record.extend((payload.len() as u32).to_le_bytes());
        record.extend(payload);
        record
    }

    fn path_record(nature: PathNature, path: &str, rest: &[u8]) -> Vec<u8> {
        let mut row = Vec::new();
        row.extend((nature as u32).to_le_bytes());
        row.extend(0o640u32.to_le_bytes());
        for number in [7u64, 8, 9, 10] {
            row.extend(number.to_le_bytes());
        }
        for number in [11, 1, path.len() as u32, rest.len() as u32] {
            row.extend(number.to_le_bytes());
        }
        record(RecordKind::Path, &[&row, path.as_bytes(), rest])
    }

    fn start() -> Vec<u8> {
        let numbers: Vec<u8> = [CAPTURE_VERSION, 12, 13, 0o22]
            .into_iter()
            .flat_map(u32::to_le_bytes)
            .collect();
        record(RecordKind::Start, &[&numbers])
    }

    fn log() -> Vec<u8> {
        [
            start(),
            record(RecordKind::Program, &[b"/p"]),
            record(RecordKind::Directory, &[b"/d"]),
            record(RecordKind::Argument, &[b"p"]),
            record(RecordKind::Argument, &[b""]),
            record(RecordKind::Variable, &[b"A=b"]),
            record(RecordKind::Stdin, &[&4u32.to_le_bytes()]),
            path_record(PathNature::File, "/d/f", b"1-2"),
            record(RecordKind::StdinData, &[b"in"]),
            path_record(PathNature::Directory, "/d", b"\x08f\0\x04g\0"),
            record(RecordKind::StdinData, &[b"put"]),
            record(RecordKind::Lost, &[&1u32.to_le_bytes(), b"/d/large"]),
            record(
                RecordKind::Chance,
                &[&[0, 0, 0, 0, 4, 0, 0, 0], b"time", &[1, 2]],
            ),
            record(RecordKind::End, &[&(-3i32).to_le_bytes()]),
        ]
        .concat()
    }

    #[test]
    fn a_log_is_read() {
        let captured = Captured::parse(&log()).unwrap();
        assert_eq!((captured.pid, captured.parent), (12, 13));
        assert_eq!(captured.umask, 0o22);
        assert_eq!(captured.program, Path::new("/p"));
        assert_eq!(captured.directory, Path::new("/d"));
        assert_eq!(captured.arguments, ["p", ""]);
        assert_eq!(captured.environment, ["A=b"]);
        assert_eq!(captured.stdin, Stdin::Pipe(b"input".to_vec()));
        assert_eq!(captured.ended, Some(-3));
        let lost = Lost {
            loss: Loss::FileTooLarge,
            path: Some("/d/large".into()),
        };
        assert_eq!(captured.losses, [lost]);
        let chance = Chance {
            process: 0,
            name: "time".into(),
            bytes: vec![1, 2],
        };
        assert_eq!(captured.chance, [chance]);
        let file = &captured.paths[0];
        assert_eq!(file.path, Path::new("/d/f"));
        assert_eq!((file.mode, file.size), (0o640, 9));
        assert_eq!((file.identity, file.modified), ((7, 8), (10, 11)));
        let content = Some("1-2".into());
        assert_eq!(file.nature, Nature::File { content });
        let Nature::Directory {
            entries: Some(entries),
        } = &captured.paths[1].nature
        else {
            panic!("a listed directory");
        };
        assert_eq!(entries.len(), 2);
    }

    #[test]
    fn every_prefix_is_a_log_that_knows_less() {
        let log = log();
        let whole = Captured::parse(&log).unwrap();
        for size in 0..log.len() {
            let Some(part) = Captured::parse(&log[..size]) else {
                assert!(size < start().len(), "{size}");
                continue;
            };
            assert!(size >= start().len(), "{size}");
            assert_eq!(part.ended, None);
            assert!(whole.arguments.starts_with(&part.arguments));
            assert!(part.paths.len() <= whole.paths.len());
            if let (Stdin::Pipe(part), Stdin::Pipe(whole)) = (&part.stdin, &whole.stdin) {
                assert!(whole.starts_with(part));
            }
        }
    }

    #[test]
    fn nonsense_is_no_log() {
        assert_eq!(Captured::parse(b"nothing of the kind"), None);
        let mut other_version = log();
        other_version[8] ^= 1;
        assert_eq!(Captured::parse(&other_version), None);
        for at in 0..log().len() {
            let mut log = log();
            log[at] = 0xff;
            // It may say anything, but says it without a panic.
            let _ = Captured::parse(&log);
        }
    }
}
