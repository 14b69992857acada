//! A captured execution, as the runtime wrote it: see [`nearmiss_abi::capture`].

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use nearmiss_abi::capture::{
    CAPTURE_VERSION, Loss, PATH_ROW_SIZE, PathNature, RecordKind, StdinNature,
};

use super::skipped::Reason;

/// What a process was started with, and what it found.
#[derive(Clone, Debug)]
pub struct Captured {
    /// Its number.
    pub process: u32,
    /// Its umask.
    pub umask: u32,
    /// The program's file.
    pub program: PathBuf,
    /// Where it ran.
    pub directory: PathBuf,
    /// Its arguments, with its name first.
    pub arguments: Vec<OsString>,
    /// Its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Its standard input.
    pub stdin: CapturedStdin,
    /// Paths as they were before their first use.
    pub paths: Vec<CapturedPath>,
    /// What was not kept; without a path: of standard input.
    pub losses: Vec<(Loss, PathBuf)>,
    /// Its exit status, if it ended by itself.
    pub status: Option<i32>,
}

/// A standard input.
#[derive(Clone, Debug)]
pub struct CapturedStdin {
    /// What it was.
    pub nature: StdinNature,
    /// The content of a file.
    pub content: Option<OsString>,
    /// What was read, if it was no file.
    pub data: Vec<u8>,
}

/// Something at a path.
#[derive(Clone, Debug)]
pub struct CapturedPath {
    /// Where, absolute.
    pub path: PathBuf,
    /// What.
    pub nature: PathNature,
    /// Permissions.
    pub mode: u32,
    /// `st_dev`.
    pub device: u64,
    /// `st_ino`.
    pub inode: u64,
    /// `st_size`.
    pub size: u64,
    /// Seconds and nanoseconds of its last change.
    pub modified: (i64, u32),
    /// The content of a file, if that was needed.
    pub content: Option<OsString>,
    /// Where a link leads.
    pub target: Option<PathBuf>,
    /// Types and names in a directory, if they were listed.
    pub entries: Option<Vec<(u8, OsString)>>,
}

impl Captured {
    /// The names of all contents that it needs.
    pub fn contents(&self) -> impl Iterator<Item = &OsString> {
        let paths = self.paths.iter().filter_map(|path| path.content.as_ref());
        paths.chain(&self.stdin.content)
    }
}

/// Reads what a process left: all of it, or what is valid of it.
pub fn read(file: &Path) -> Result<Captured, Reason> {
    parse(&fs::read(file).map_err(|_| Reason::Unreadable)?)
}

fn parse(bytes: &[u8]) -> Result<Captured, Reason> {
    let mut records = Records(bytes);
    let start = match records.next() {
        Some((RecordKind::Start, payload)) => payload,
        _ => return Err(Reason::Unreadable),
    };
    let number = |index: usize| number(start, 4 * index).ok_or(Reason::Unreadable);
    if number(0)? != CAPTURE_VERSION {
        return Err(Reason::Version);
    }
    let mut reading = Reading {
        captured: Captured {
            process: number(1)?,
            umask: number(3)?,
            program: PathBuf::new(),
            directory: PathBuf::new(),
            arguments: Vec::new(),
            environment: Vec::new(),
            stdin: CapturedStdin {
                nature: StdinNature::Closed,
                content: None,
                data: Vec::new(),
            },
            paths: Vec::new(),
            losses: Vec::new(),
            status: None,
        },
        places: HashMap::new(),
    };
    for (kind, payload) in records {
        reading.record(kind, payload);
    }
    let captured = reading.captured;
    let is_whole =
        !captured.program.as_os_str().is_empty() && !captured.directory.as_os_str().is_empty();
    is_whole.then_some(captured).ok_or(Reason::Unreadable)
}

/// The whole records of a capsule.
struct Records<'a>(&'a [u8]);

impl<'a> Iterator for Records<'a> {
    type Item = (RecordKind, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let kind = RecordKind::from_code(number(self.0, 0)?)?;
        let end = 8usize.checked_add(number(self.0, 4)? as usize)?;
        let payload = self.0.get(8..end)?;
        self.0 = &self.0[end..];
        Some((kind, payload))
    }
}

struct Reading {
    captured: Captured,
    /// Where the row of a path is.
    places: HashMap<PathBuf, usize>,
}

impl Reading {
    fn record(&mut self, kind: RecordKind, payload: &[u8]) {
        let captured = &mut self.captured;
        match kind {
            RecordKind::Start => {}
            RecordKind::Program => captured.program = path(payload),
            RecordKind::Directory => captured.directory = path(payload),
            RecordKind::Argument => captured.arguments.push(text(payload)),
            RecordKind::Variable => captured.environment.push(variable(payload)),
            RecordKind::Stdin => {
                let nature = number(payload, 0).and_then(StdinNature::from_code);
                captured.stdin.nature = nature.unwrap_or(StdinNature::Other);
                captured.stdin.content = name(payload.get(4..));
            }
            RecordKind::StdinData => captured.stdin.data.extend(payload),
            RecordKind::Path => {
                if let Some(row) = row(payload) {
                    self.add(row);
                }
            }
            RecordKind::Lost => {
                if let Some(loss) = number(payload, 0).and_then(Loss::from_code) {
                    captured.losses.push((loss, path(&payload[4..])));
                }
            }
            RecordKind::End => captured.status = number(payload, 0).map(|status| status as i32),
        }
    }

    /// The first row of a path says what was there; later ones may know more of it.
    fn add(&mut self, row: CapturedPath) {
        let Some(index) = self.places.get(&row.path) else {
            self.places
                .insert(row.path.clone(), self.captured.paths.len());
            return self.captured.paths.push(row);
        };
        let first = &mut self.captured.paths[*index];
        if first.nature == row.nature {
            first.content = first.content.take().or(row.content);
            first.entries = first.entries.take().or(row.entries);
        }
    }
}

fn row(payload: &[u8]) -> Option<CapturedPath> {
    let wide = |at: usize| -> Option<u64> {
        let bytes = payload.get(at..at + 8)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    };
    let nature = PathNature::from_code(number(payload, 0)?)?;
    let path_end = PATH_ROW_SIZE.checked_add(number(payload, 48)? as usize)?;
    let rest_end = path_end.checked_add(number(payload, 52)? as usize)?;
    let rest = payload.get(path_end..rest_end)?;
    let listed = number(payload, 44)? != 0;
    let of = |wanted: PathNature| (nature == wanted).then_some(rest);
    Some(CapturedPath {
        path: path(payload.get(PATH_ROW_SIZE..path_end)?),
        nature,
        mode: number(payload, 4)?,
        device: wide(8)?,
        inode: wide(16)?,
        size: wide(24)?,
        modified: (wide(32)? as i64, number(payload, 40)?),
        content: name(of(PathNature::File)),
        target: name(of(PathNature::Link)).map(PathBuf::from),
        entries: of(PathNature::Directory).filter(|_| listed).map(entries),
    })
}

fn entries(list: &[u8]) -> Vec<(u8, OsString)> {
    let entries = list.split(|byte| *byte == 0);
    let entries = entries.filter_map(|entry| entry.split_first());
    entries.map(|(kind, name)| (*kind, text(name))).collect()
}

fn variable(entry: &[u8]) -> (OsString, OsString) {
    let equals = entry.iter().position(|byte| *byte == b'=');
    let (name, value) = match equals {
        Some(at) => (&entry[..at], &entry[at + 1..]),
        None => (entry, &[][..]),
    };
    (text(name), text(value))
}

fn text(bytes: &[u8]) -> OsString {
    OsString::from_vec(bytes.to_vec())
}

fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

fn name(bytes: Option<&[u8]>) -> Option<OsString> {
    bytes.filter(|name| !name.is_empty()).map(text)
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
pub mod testing {
    //! Captured executions, made by hand.

    use super::*;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    impl CapturedPath {
        /// Something at a path, without details.
        pub fn new(path: impl Into<PathBuf>, nature: PathNature) -> CapturedPath {
            CapturedPath {
                path: path.into(),
                nature,
                mode: 0o644,
                device: 0,
                inode: 0,
                size: 0,
                modified: (0, 0),
                content: None,
                target: None,
                entries: None,
            }
        }
    }

    /// A path as it is now.
    pub fn row_of(path: &Path) -> CapturedPath {
        let Ok(now) = std::fs::symlink_metadata(path) else {
            return CapturedPath::new(path, PathNature::Absent);
        };
        let nature = match now.file_type() {
            kind if kind.is_dir() => PathNature::Directory,
            kind if kind.is_symlink() => PathNature::Link,
            _ => PathNature::File,
        };
        CapturedPath {
            mode: now.mode() & 0o7777,
            device: now.dev(),
            inode: now.ino(),
            size: now.size(),
            modified: (now.mtime(), now.mtime_nsec() as u32),
            target: std::fs::read_link(path).ok(),
            ..CapturedPath::new(path, nature)
        }
    }

    /// An execution in a directory.
    pub fn captured(directory: &str, arguments: &[&str]) -> Captured {
        Captured {
            process: 1,
            umask: 0o22,
            program: "/bin/prog".into(),
            directory: directory.into(),
            arguments: arguments.iter().map(OsString::from).collect(),
            environment: Vec::new(),
            stdin: CapturedStdin {
                nature: StdinNature::Null,
                content: None,
                data: Vec::new(),
            },
            paths: Vec::new(),
            losses: Vec::new(),
            status: Some(0),
        }
    }

    /// A capsule file.
    pub struct Written(pub Vec<u8>);

    impl Written {
        /// With the records that every capsule has.
        pub fn new(program: &str, directory: &str, arguments: &[&str]) -> Written {
            let mut written = Written(Vec::new());
            let start = [CAPTURE_VERSION, 7, 1, 0o22].map(u32::to_le_bytes).concat();
            written.record(RecordKind::Start, &start);
            written.record(RecordKind::Program, program.as_bytes());
            written.record(RecordKind::Directory, directory.as_bytes());
            for argument in arguments {
                written.record(RecordKind::Argument, argument.as_bytes());
            }
            written
        }

        /// Adds a record.
        pub fn record(&mut self, kind: RecordKind, payload: &[u8]) {
            self.0.extend((kind as u32).to_le_bytes());
            self.0.extend((payload.len() as u32).to_le_bytes());
            self.0.extend(payload);
        }

        /// Adds a path.
        pub fn path(&mut self, nature: PathNature, path: &str, rest: &[u8], listed: bool) {
            let mut payload = vec![0; PATH_ROW_SIZE];
            let mut put = |at: usize, value: u32| {
                payload[at..at + 4].copy_from_slice(&value.to_le_bytes());
            };
            put(0, nature as u32);
            put(4, 0o640);
            put(24, 5);
            put(32, 1000);
            put(40, 99);
            put(44, listed.into());
            put(48, path.len() as u32);
            put(52, rest.len() as u32);
            payload.extend(path.as_bytes());
            payload.extend(rest);
            self.record(RecordKind::Path, &payload);
        }

        /// The end.
        pub fn end(&mut self, status: i32) {
            self.record(RecordKind::End, &status.to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::Written;
    use super::*;

    fn example() -> Written {
        let mut written = Written::new("/p", "/d", &["p", "-x"]);
        written.record(RecordKind::Variable, b"A=1=2");
        let pipe = (StdinNature::Pipe as u32).to_le_bytes();
        written.record(RecordKind::Stdin, &pipe);
        written.record(RecordKind::StdinData, b"ab");
        written.record(RecordKind::StdinData, b"c");
        written.path(PathNature::File, "/f", b"", false);
        written.path(PathNature::File, "/f", b"c1", false);
        written.path(PathNature::Directory, "/d", b"\x08one\0\x04two\0", true);
        written.path(PathNature::Link, "/l", b"there", false);
        let loss = [&(Loss::FileTooLarge as u32).to_le_bytes()[..], b"/big"].concat();
        written.record(RecordKind::Lost, &loss);
        written.end(3);
        written
    }

    #[test]
    fn records_are_read() {
        let captured = parse(&example().0).unwrap();
        assert_eq!((captured.process, captured.umask), (7, 0o22));
        assert_eq!(captured.arguments, ["p", "-x"]);
        assert_eq!(captured.environment, [("A".into(), "1=2".into())]);
        assert_eq!(captured.stdin.nature, StdinNature::Pipe);
        assert_eq!(captured.stdin.data, b"abc");
        let [file, directory, link] = &captured.paths[..] else {
            panic!("{:?}", captured.paths);
        };
        assert_eq!(
            (file.mode, file.size, file.modified),
            (0o640, 5, (1000, 99))
        );
        assert_eq!(file.content, Some("c1".into()));
        let entries = vec![(8, "one".into()), (4, "two".into())];
        assert_eq!(directory.entries, Some(entries));
        assert_eq!(link.target, Some("there".into()));
        assert_eq!(captured.losses, [(Loss::FileTooLarge, "/big".into())]);
        assert_eq!(captured.status, Some(3));
    }

    #[test]
    fn any_beginning_can_be_read() {
        let bytes = example().0;
        for size in 0..bytes.len() {
            if let Ok(captured) = parse(&bytes[..size]) {
                assert_eq!(captured.program, Path::new("/p"));
            }
        }
        assert_eq!(parse(b"").unwrap_err(), Reason::Unreadable);
        let mut other = bytes.clone();
        other[8] = 99;
        assert_eq!(parse(&other).unwrap_err(), Reason::Version);
    }
}
