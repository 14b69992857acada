//! The meeting place: a file that asks every instrumented descendant of this process to be
//! captured, for as long as the value lives.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nearmiss_abi::capture::{FILES, MEETING_PREFIX, OPTION_FILE, OPTION_FILES};

/// A meeting place of this process.
#[derive(Debug)]
pub struct Meeting {
    file: PathBuf,
}

impl Meeting {
    /// Asks for captures into `directory` (absolute), which is made if it is not there. `file`
    /// and `files` are the most bytes kept of one file, and of all files of one process.
    pub fn open(directory: &Path, file: u64, files: u64) -> io::Result<Meeting> {
        fs::create_dir_all(directory.join(FILES))?;
        // The directory of this process in /proc belongs to the effective user.
        let user = fs::metadata("/proc/self")?.uid();
        let place = PathBuf::from(format!("{MEETING_PREFIX}{user}"));
        make_place(&place, user)?;
        let path = place.join(format!(
            "{}-{}",
            std::process::id(),
            start_of_this_process()?
        ));
        let mut message = directory.as_os_str().as_bytes().to_vec();
        message.extend(format!("\0{OPTION_FILE}={file},{OPTION_FILES}={files}\0").as_bytes());
        let mut created = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&path)?;
        let meeting = Meeting { file: path };
        created.write_all(&message)?;
        Ok(meeting)
    }
}

impl Drop for Meeting {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.file);
        // Only if it is empty: others may meet there.
        let _ = self.file.parent().map(fs::remove_dir);
    }
}

/// Makes the directory of meeting places, or makes sure that it is safe.
fn make_place(place: &Path, user: u32) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(place) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let found = fs::symlink_metadata(place)?;
    if found.is_dir() && found.uid() == user && found.mode() & 0o022 == 0 {
        return Ok(());
    }
    let words = format!("{} is not a directory of this user alone", place.display());
    Err(io::Error::new(ErrorKind::PermissionDenied, words))
}

/// When this process started, in the kernel's own count: field 22 of its `stat`.
fn start_of_this_process() -> io::Result<u64> {
    let line = fs::read_to_string("/proc/self/stat")?;
    // The name, field 2, may have spaces and parentheses in it.
    let fields = line.rsplit_once(')').map_or("", |(_, fields)| fields);
    let start = fields.split_ascii_whitespace().nth(22 - 3);
    start
        .and_then(|start| start.parse().ok())
        .ok_or_else(|| io::Error::other("/proc/self/stat has no start time"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_lives_as_long_as_the_value() {
        let directory = std::env::temp_dir().join(format!("meeting-{}", std::process::id()));
        let meeting = Meeting::open(&directory, 10, 20).unwrap();
        let file = meeting.file.clone();
        let expected = format!("{}\0file=10,files=20\0", directory.display());
        assert_eq!(fs::read(&file).unwrap(), expected.as_bytes());
        assert!(directory.join(FILES).is_dir());
        drop(meeting);
        assert!(!file.exists());
        fs::remove_dir_all(directory).unwrap();
    }
}
