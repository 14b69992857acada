//! The meeting place: how programs that the suite starts learn that they are to be captured.
//!
//! See [`nearmiss_abi::capture`]. It lies in a directory that belongs to the user alone: whoever
//! could write there would decide where the user's programs write.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nearmiss_abi::capture::MEETING_PREFIX;

use crate::error::EngineError;

/// A meeting place of this process; it is gone when this is dropped.
#[derive(Debug)]
pub struct MeetingPlace {
    file: PathBuf,
    captures: PathBuf,
}

impl MeetingPlace {
    /// Makes the meeting place of this process: what it starts from now on captures into
    /// `captures`.
    pub fn open(captures: &Path, options: &str) -> Result<MeetingPlace, EngineError> {
        // SAFETY: asks only.
        let user = unsafe { libc::geteuid() };
        MeetingPlace::open_in(
            &PathBuf::from(format!("{MEETING_PREFIX}{user}")),
            captures,
            options,
        )
    }

    fn open_in(
        directory: &Path,
        captures: &Path,
        options: &str,
    ) -> Result<MeetingPlace, EngineError> {
        let failed = |error| EngineError::MeetingPlace(directory.to_path_buf(), error);
        let process = std::process::id();
        let start = start_of(process).map_err(failed)?;
        let place = MeetingPlace {
            file: directory.join(format!("{process}-{start}")),
            captures: captures.to_path_buf(),
        };
        // Another nearmiss may remove the directory, empty as it is, before our file is in it.
        const ATTEMPTS: usize = 10;
        let mut attempt = 1;
        loop {
            own_directory(directory).map_err(failed)?;
            remove_stale(directory);
            match place.set_options(options) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && attempt < ATTEMPTS => {
                    attempt += 1;
                }
                result => return result.map(|()| place).map_err(failed),
            }
        }
    }

    /// Says how programs that start from now on are captured.
    pub fn set_options(&self, options: &str) -> io::Result<()> {
        let mut content = self.captures.as_os_str().as_bytes().to_vec();
        content.push(0);
        content.extend(options.as_bytes());
        content.push(0);
        let new = self.file.with_extension("new");
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&new)?;
        file.write_all(&content)?;
        fs::rename(&new, &self.file)
    }
}

impl Drop for MeetingPlace {
    fn drop(&mut self) {
        // What cannot be removed is found stale by the next nearmiss. The directory stays if
        // others meet there.
        let _ = fs::remove_file(&self.file);
        let _ = self.file.parent().map(fs::remove_dir);
    }
}

/// Makes the directory, or makes sure that it is ours alone.
fn own_directory(directory: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        result => return result,
    }
    let metadata = fs::symlink_metadata(directory)?;
    // SAFETY: asks only.
    let user = unsafe { libc::geteuid() };
    let why = if !metadata.is_dir() {
        "is in the way: remove it"
    } else if metadata.uid() != user {
        "belongs to another user: have it removed"
    } else if metadata.mode() & 0o077 != 0 {
        "is open to other users: remove it"
    } else {
        return Ok(());
    };
    Err(io::Error::other(why))
}

/// Removes the meeting places of processes that are gone.
fn remove_stale(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let process = name.trim_end_matches(".new").split_once('-');
        let Some((process, start)) = process else {
            continue;
        };
        if let (Ok(process), Ok(start)) = (process.parse::<u32>(), start.parse::<u64>())
            && start_of(process).ok() != Some(start)
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// When a process started: field 22 of its `stat`.
fn start_of(process: u32) -> io::Result<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The name of the program, field 2, may have spaces and brackets in it.
    let fields = text.rsplit_once(") ").map_or("", |(_, fields)| fields);
    let start = fields
        .split(' ')
        .nth(22 - 3)
        .and_then(|field| field.parse().ok());
    start.ok_or_else(|| io::Error::other("/proc cannot be read"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_place_is_there_as_long_as_it_is_needed() {
        let outside = tempfile::tempdir().unwrap();
        let directory = outside.path().join("meeting");
        let place = MeetingPlace::open_in(&directory, Path::new("/a/b"), "file=1").unwrap();
        let metadata = fs::metadata(&directory).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o700);
        let me = std::process::id();
        let file = directory.join(format!("{me}-{}", start_of(me).unwrap()));
        assert_eq!(fs::read(&file).unwrap(), b"/a/b\0file=1\0");
        place.set_options("files=0").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"/a/b\0files=0\0");
        drop(place);
        assert!(!directory.exists());
    }

    #[test]
    fn places_of_the_dead_are_removed_and_others_kept() {
        let outside = tempfile::tempdir().unwrap();
        let directory = outside.path().join("meeting");
        DirBuilder::new().mode(0o700).create(&directory).unwrap();
        let alive = format!("1-{}", start_of(1).unwrap());
        for name in ["1-99999999999", "4194305-1", &alive, "unknown"] {
            fs::write(directory.join(name), "").unwrap();
        }
        drop(MeetingPlace::open_in(&directory, Path::new("/a"), "").unwrap());
        let entries = fs::read_dir(&directory).unwrap();
        let mut left: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, [alive, "unknown".to_string()]);
    }

    #[test]
    fn a_directory_that_others_can_write_is_refused() {
        let outside = tempfile::tempdir().unwrap();
        let refusal = |directory: &Path| {
            MeetingPlace::open_in(directory, Path::new("/a"), "")
                .unwrap_err()
                .to_string()
        };
        let open = outside.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(refusal(&open).contains("open to other users"));
        let link = outside.path().join("link");
        std::os::unix::fs::symlink(&open, &link).unwrap();
        assert!(refusal(&link).contains("in the way"));
        // Anybody's but root's; for root everything is its own.
        let error = refusal(Path::new("/proc/1"));
        assert!(error.starts_with("/proc/1: "), "{error}");
    }
}
