//! The contents of files that captured processes kept, each on the disk once.
//!
//! The runtime names a content by the file that it was in; two tests that make themselves the
//! same file keep it twice. What is equal becomes one file with several names here, while the
//! suite runs: no name ever goes, as a process that runs may rely on it.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::digest::Digest;

/// All contents of a suite.
#[derive(Debug)]
pub struct Contents {
    directory: PathBuf,
    /// What each name has in it.
    digests: HashMap<OsString, String>,
    /// A name for each content.
    first: HashMap<String, OsString>,
    /// Bytes on the disk.
    pub used: u64,
}

impl Contents {
    /// The contents in a directory; none are known yet.
    pub fn new(directory: PathBuf) -> Contents {
        Contents {
            directory,
            digests: HashMap::new(),
            first: HashMap::new(),
            used: 0,
        }
    }

    /// Where a content lies.
    pub fn path(&self, name: &OsStr) -> PathBuf {
        self.directory.join(name)
    }

    /// Looks at a content, unless it is known.
    pub fn see(&mut self, name: &OsStr) -> io::Result<()> {
        if self.digests.contains_key(name) {
            return Ok(());
        }
        let path = self.path(name);
        let bytes = fs::read(&path)?;
        let mut digest = Digest::new();
        digest.add(&bytes);
        let digest = digest.name();
        match self.first.get(&digest) {
            Some(first) => {
                // Where it cannot be done, it is kept twice.
                if share(&self.path(first), &path).is_err() {
                    self.used += bytes.len() as u64;
                }
            }
            None => {
                self.used += bytes.len() as u64;
                self.first.insert(digest.clone(), name.to_os_string());
            }
        }
        self.digests.insert(name.to_os_string(), digest);
        Ok(())
    }

    /// Names what a file has in it; by its own name if it was not looked at.
    pub fn digest(&self, name: &OsStr) -> String {
        let known = self.digests.get(name);
        known.map_or_else(|| name.to_string_lossy().into_owned(), String::clone)
    }
}

/// Makes `other` another name of `first`, so that it is there at every moment.
fn share(first: &Path, other: &Path) -> io::Result<()> {
    let mut new = other.as_os_str().to_os_string();
    new.push(".shared");
    fs::hard_link(first, &new)?;
    fs::rename(&new, other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn equal_contents_are_on_the_disk_once() {
        let directory = tempfile::tempdir().unwrap();
        let mut contents = Contents::new(directory.path().to_path_buf());
        let names = ["a", "b", "c"].map(OsStr::new);
        for (name, text) in names.iter().zip(["text", "text", "other"]) {
            fs::write(contents.path(name), text).unwrap();
            contents.see(name).unwrap();
            contents.see(name).unwrap();
        }
        let inode = |name: &OsStr| fs::metadata(contents.path(name)).unwrap().ino();
        assert_eq!(inode(names[0]), inode(names[1]));
        assert_ne!(inode(names[0]), inode(names[2]));
        assert_eq!(contents.digest(names[0]), contents.digest(names[1]));
        assert_ne!(contents.digest(names[0]), contents.digest(names[2]));
        assert_eq!(contents.used, 9);
        assert!(contents.see(OsStr::new("none")).is_err());
    }
}
