//! What a process found at a path, put together from the rows about it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use nearmiss_abi::capture::{PATH_ROW_SIZE, PathNature, PathRow};

/// A path as it was before the process first used it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedPath {
    /// Where, absolute, as the process named it.
    pub path: PathBuf,
    /// What was there.
    pub nature: Nature,
    /// Permissions, as in `st_mode & 07777`.
    pub mode: u32,
    /// The device and the number of the file there.
    pub identity: (u64, u64),
    /// Bytes.
    pub size: u64,
    /// Seconds and nanoseconds of its last change.
    pub modified: (i64, u32),
}

/// What was at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nature {
    /// Nothing.
    Absent,
    /// A regular file.
    File {
        /// The name of its content among the files, if the process needed it and it was kept.
        content: Option<OsString>,
    },
    /// A directory.
    Directory {
        /// What lay in it, sorted by name, if the process listed it.
        entries: Option<Vec<Entry>>,
    },
    /// A symbolic link to this.
    Link(PathBuf),
    /// A named pipe.
    Pipe,
    /// A socket.
    Socket,
    /// A device.
    Device,
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its name.
    pub name: OsString,
    /// The `d_type` of `getdents64`; 0 if it is not known.
    pub kind: u8,
}

impl CapturedPath {
    /// Reads the payload of a record.
    pub(crate) fn parse(payload: &[u8]) -> Option<CapturedPath> {
        let (row, rest) = payload.split_at_checked(PATH_ROW_SIZE)?;
        let row = parse_row(row)?;
        let (path, rest) = rest.split_at_checked(row.path_size as usize)?;
        let rest = rest.get(..row.rest_size as usize)?;
        let nature = match PathNature::from_code(row.nature)? {
            PathNature::Absent => Nature::Absent,
            PathNature::File => Nature::File {
                content: (!rest.is_empty()).then(|| OsString::from_vec(rest.to_vec())),
            },
            PathNature::Directory => Nature::Directory {
                entries: (row.listed != 0).then(|| parse_entries(rest)),
            },
            PathNature::Link => Nature::Link(OsStr::from_bytes(rest).into()),
            PathNature::Pipe => Nature::Pipe,
            PathNature::Socket => Nature::Socket,
            PathNature::Device => Nature::Device,
        };
        Some(CapturedPath {
            path: OsStr::from_bytes(path).into(),
            nature,
            mode: row.mode,
            identity: (row.device, row.inode),
            size: row.size,
            modified: (row.modified, row.modified_nanoseconds),
        })
    }

    /// Takes from a later row what this one does not have, if nothing changed in between.
    fn complete(&mut self, later: CapturedPath) {
        let is_same = self.identity == later.identity
            && (self.size, self.modified) == (later.size, later.modified);
        match (&mut self.nature, later.nature) {
            (Nature::File { content }, Nature::File { content: found })
                if is_same && content.is_none() =>
            {
                *content = found;
            }
            // The process itself may have changed the directory: its entries are put right.
            (Nature::Directory { entries }, Nature::Directory { entries: found })
                if self.identity == later.identity && entries.is_none() =>
            {
                *entries = found;
            }
            _ => {}
        }
    }

    fn kind(&self) -> u8 {
        match self.nature {
            Nature::Absent | Nature::Device => 0,
            Nature::Pipe => 1,
            Nature::Directory { .. } => 4,
            Nature::File { .. } => 8,
            Nature::Link(_) => 10,
            Nature::Socket => 12,
        }
    }
}

fn parse_row(bytes: &[u8]) -> Option<PathRow> {
    let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let long = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    Some(PathRow {
        nature: word(0)?,
        mode: word(4)?,
        device: long(8)?,
        inode: long(16)?,
        size: long(24)?,
        modified: long(32)? as i64,
        modified_nanoseconds: word(40)?,
        listed: word(44)?,
        path_size: word(48)?,
        rest_size: word(52)?,
    })
}

fn parse_entries(mut bytes: &[u8]) -> Vec<Entry> {
    let mut entries = Vec::new();
    while let Some((&kind, rest)) = bytes.split_first() {
        let size = rest
            .iter()
            .position(|&byte| byte == 0)
            .unwrap_or(rest.len());
        let name = OsString::from_vec(rest[..size].to_vec());
        entries.push(Entry { name, kind });
        bytes = rest.get(size + 1..).unwrap_or(&[]);
    }
    entries.sort();
    entries
}

/// One for each path, in the order of their first rows: the first row says how it was.
pub(crate) fn merge(rows: Vec<CapturedPath>) -> Vec<CapturedPath> {
    let mut merged: Vec<CapturedPath> = Vec::new();
    let mut places: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for row in rows {
        match places.get(&row.path) {
            Some(&place) => merged[place].complete(row),
            None => {
                places.insert(row.path.clone(), merged.len());
                merged.push(row);
            }
        }
    }
    restore_entries(&mut merged);
    merged
}

/// A directory may have been listed after the process had changed it: what it made there was
/// not in it, and what it removed was.
fn restore_entries(paths: &mut [CapturedPath]) {
    let mut facts: BTreeMap<PathBuf, Vec<(OsString, Option<u8>)>> = BTreeMap::new();
    for path in paths.iter() {
        if let (Some(parent), Some(name)) = (path.path.parent(), path.path.file_name()) {
            let kind = (path.nature != Nature::Absent).then(|| path.kind());
            let facts = facts.entry(parent.to_path_buf()).or_default();
            facts.push((name.to_os_string(), kind));
        }
    }
    for path in paths {
        let Nature::Directory {
            entries: Some(entries),
        } = &mut path.nature
        else {
            continue;
        };
        for (name, kind) in facts.get(Path::new(&path.path)).into_iter().flatten() {
            let place = entries.iter().position(|entry| entry.name == *name);
            match (place, kind) {
                (Some(place), None) => drop(entries.remove(place)),
                (None, Some(kind)) => entries.push(Entry {
                    name: name.clone(),
                    kind: *kind,
                }),
                _ => {}
            }
        }
        entries.sort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(path: &str, nature: Nature, size: u64) -> CapturedPath {
        CapturedPath {
            path: path.into(),
            nature,
            mode: 0o644,
            identity: (1, 2),
            size,
            modified: (3, 4),
        }
    }

    fn file(content: Option<&str>) -> Nature {
        Nature::File {
            content: content.map(OsString::from),
        }
    }

    fn entry(name: &str, kind: u8) -> Entry {
        Entry {
            name: name.into(),
            kind,
        }
    }

    #[test]
    fn a_later_row_adds_content_unless_the_file_changed() {
        let merged = merge(vec![
            path("/a", file(None), 5),
            path("/b", file(None), 5),
            path("/c", Nature::Absent, 0),
            path("/a", file(Some("x")), 5),
            path("/b", file(Some("y")), 6),
            path("/c", file(Some("z")), 7),
        ]);
        assert_eq!(merged.len(), 3);
        assert_eq!(merged[0].nature, file(Some("x")));
        assert_eq!(merged[1].nature, file(None));
        assert_eq!(merged[2].nature, Nature::Absent);
    }

    #[test]
    fn listings_are_as_before_the_process_changed_them() {
        let listed = Nature::Directory {
            entries: Some(vec![entry("made", 8), entry("other", 4)]),
        };
        let merged = merge(vec![
            path("/d/made", Nature::Absent, 0),
            path("/d/removed", file(None), 1),
            path("/d", listed, 9),
        ]);
        let Nature::Directory { entries } = &merged[2].nature else {
            panic!("a directory");
        };
        let expected = vec![entry("other", 4), entry("removed", 8)];
        assert_eq!(entries.as_ref(), Some(&expected));
    }
}
