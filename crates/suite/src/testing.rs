//! Captured executions, made by hand.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nearmiss_capture::{Captured, CapturedPath, Nature, Stdin};

/// Something at a path, without details.
pub fn row(path: impl Into<PathBuf>, nature: Nature) -> CapturedPath {
    CapturedPath {
        path: path.into(),
        nature,
        mode: 0o644,
        identity: (0, 0),
        size: 0,
        modified: (0, 0),
    }
}

/// A file with a content of this name.
pub fn file(content: &str) -> Nature {
    Nature::File {
        content: Some(content.into()),
    }
}

/// A path as it is now, without content.
pub fn row_of(path: &Path) -> CapturedPath {
    let Ok(now) = fs::symlink_metadata(path) else {
        return row(path, Nature::Absent);
    };
    let nature = match now.file_type() {
        kind if kind.is_dir() => Nature::Directory { entries: None },
        kind if kind.is_symlink() => Nature::Link(fs::read_link(path).unwrap()),
        _ => Nature::File { content: None },
    };
    CapturedPath {
        mode: now.mode() & 0o7777,
        identity: (now.dev(), now.ino()),
        size: now.size(),
        modified: (now.mtime(), now.mtime_nsec() as u32),
        ..row(path, nature)
    }
}

/// An execution in a directory.
pub fn captured(directory: &str, arguments: &[&str]) -> Captured {
    Captured {
        pid: 1,
        parent: 1,
        umask: 0o22,
        program: "/bin/prog".into(),
        directory: directory.into(),
        arguments: arguments.iter().map(OsString::from).collect(),
        environment: Vec::new(),
        stdin: Stdin::Null,
        paths: Vec::new(),
        losses: Vec::new(),
        ended: Some(0),
        chance: Vec::new(),
    }
}
