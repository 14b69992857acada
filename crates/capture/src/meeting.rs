//! The meeting place: a file that asks every instrumented descendant of this process to be
//! captured, for as long as the value lives.
//!
//! It lies in a directory that belongs to the user alone: whoever could write there would decide
//! where the user's programs write.

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
    /// Where captures go.
    captures: PathBuf,
}

impl Meeting {
    /// Asks for captures into `captures` (absolute), which is made if it is not there. `file`
    /// and `files` are the most bytes kept of one file, and of all files of one process.
    pub fn open(captures: &Path, file: u64, files: u64) -> io::Result<Meeting> {
        let place = PathBuf::from(format!("{MEETING_PREFIX}{}", user()?));
        Meeting::open_in(&place, captures, file, files)
    }

    fn open_in(place: &Path, captures: &Path, file: u64, files: u64) -> io::Result<Meeting> {
        fs::create_dir_all(captures.join(FILES))?;
        let process = std::process::id();
        let name = format!("{process}-{}", start_of(process)?);
        // Another nearmiss may remove the directory, empty as it is, before our file is in it.
        const ATTEMPTS: usize = 10;
        let mut attempt = 1;
        loop {
            make_place(place, user()?)?;
            remove_stale(place);
            let meeting = Meeting {
                file: place.join(&name),
                captures: captures.to_path_buf(),
            };
            match meeting.limit(file, files) {
                Err(error) if error.kind() == ErrorKind::NotFound && attempt < ATTEMPTS => {
                    attempt += 1;
                }
                result => return result.map(|()| meeting),
            }
        }
    }

    /// Says how much programs that start from now on may keep.
    pub fn limit(&self, file: u64, files: u64) -> io::Result<()> {
        let mut message = self.captures.as_os_str().as_bytes().to_vec();
        message.extend(format!("\0{OPTION_FILE}={file},{OPTION_FILES}={files}\0").as_bytes());
        let new = self.file.with_extension("new");
        let mut created = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&new)?;
        created.write_all(&message)?;
        fs::rename(&new, &self.file)
    }
}

impl Drop for Meeting {
    fn drop(&mut self) {
        // What cannot be removed is found stale by the next nearmiss. The directory stays if
        // others meet there.
        let _ = fs::remove_file(&self.file);
        let _ = self.file.parent().map(fs::remove_dir);
    }
}

/// The effective user: the directory of a process in `/proc` is that user's.
fn user() -> io::Result<u32> {
    Ok(fs::metadata("/proc/self")?.uid())
}

/// Makes the directory of meeting places, or makes sure that it is safe.
fn make_place(place: &Path, user: u32) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(place) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        result => return result,
    }
    let found = fs::symlink_metadata(place)?;
    let why = if !found.is_dir() {
        "is no directory: remove it"
    } else if found.uid() != user {
        "belongs to another user: have it removed"
    } else if found.mode() & 0o077 != 0 {
        "is open to other users: remove it"
    } else {
        return Ok(());
    };
    let words = format!("{} {why}", place.display());
    Err(io::Error::new(ErrorKind::PermissionDenied, words))
}

/// Removes the meeting places of processes that are gone.
fn remove_stale(place: &Path) {
    let Ok(entries) = fs::read_dir(place) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let Some((process, start)) = name.trim_end_matches(".new").split_once('-') else {
            continue;
        };
        if let (Ok(process), Ok(start)) = (process.parse::<u32>(), start.parse::<u64>())
            && start_of(process).ok() != Some(start)
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// When a process started, in the kernel's own count: field 22 of its `stat`.
fn start_of(process: u32) -> io::Result<u64> {
    let line = fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The name, field 2, may have spaces and parentheses in it.
    let fields = line.rsplit_once(')').map_or("", |(_, fields)| fields);
    let start = fields.split_ascii_whitespace().nth(22 - 3);
    start
        .and_then(|start| start.parse().ok())
        .ok_or_else(|| io::Error::other("/proc has no start time"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// A directory of its own for each test; removed at the end.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let name = format!("meeting-{name}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            fs::create_dir(&path).unwrap();
            Scratch(path)
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_place_lives_as_long_as_the_value() {
        let scratch = Scratch::new("life");
        let (place, captures) = (scratch.0.join("place"), scratch.0.join("captures"));
        let meeting = Meeting::open_in(&place, &captures, 10, 20).unwrap();
        let mode = fs::metadata(&place).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let me = std::process::id();
        let file = place.join(format!("{me}-{}", start_of(me).unwrap()));
        let says = |limits: &str| format!("{}\0{limits}\0", captures.display());
        assert_eq!(fs::read_to_string(&file).unwrap(), says("file=10,files=20"));
        meeting.limit(0, 0).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), says("file=0,files=0"));
        assert!(captures.join(FILES).is_dir());
        drop(meeting);
        assert!(!place.exists());
    }

    #[test]
    fn places_of_the_dead_are_removed_and_others_kept() {
        let scratch = Scratch::new("stale");
        let place = scratch.0.join("place");
        DirBuilder::new().mode(0o700).create(&place).unwrap();
        let alive = format!("1-{}", start_of(1).unwrap());
        for name in ["1-99999999999", "4194305-1", &alive, "unknown"] {
            fs::write(place.join(name), "").unwrap();
        }
        drop(Meeting::open_in(&place, &scratch.0, 0, 0).unwrap());
        let entries = fs::read_dir(&place).unwrap();
        let mut left: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, [alive, "unknown".to_string()]);
    }

    #[test]
    fn a_directory_that_is_not_ours_alone_is_refused() {
        let scratch = Scratch::new("refused");
        let refusal = |place: &Path| {
            let error = Meeting::open_in(place, &scratch.0, 0, 0).unwrap_err();
            error.to_string()
        };
        let open = scratch.0.join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(refusal(&open).contains("open to other users"));
        let link = scratch.0.join("link");
        std::os::unix::fs::symlink(&open, &link).unwrap();
        assert!(refusal(&link).contains("no directory"));
        let metadata = fs::metadata(&open).unwrap();
        let other = make_place(&open, metadata.uid() + 1).unwrap_err();
        assert!(other.to_string().contains("another user"));
    }
}
