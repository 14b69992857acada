//! Where the tests of a suite are kept between two commands.
//!
//! ```text
//!  tests/T1/test.json       what it is recognised by
//!  tests/T1/capsule.json    what it is run by
//!  tests/T1/stdin           what it was fed, if that was no file
//!  tests/T1/files/NAME      contents of files that are not on the disk any more; tests that
//!                           read the same content share it (hard links)
//!  tests/environments/…     their environments, each once
//! ```
//!
//! A test that the suite runs again keeps its number and its directory.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use nearmiss_campaign::Environment;
use nearmiss_campaign::write_atomically;

/// Where environments are kept.
const ENVIRONMENTS: &str = "environments";

/// What a test is recognised by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Label {
    /// See [`super::identity::digest`].
    digest: String,
    /// The program and its arguments, for people.
    command: Vec<String>,
}

/// The tests of a campaign.
#[derive(Debug)]
pub struct Shelf {
    root: PathBuf,
    /// Numbers of known tests that were not seen in this suite yet, by their digests.
    unseen: HashMap<String, Vec<u64>>,
    seen: HashSet<u64>,
    last: u64,
    /// Environments of tests, by the files that they are kept in.
    environments: HashMap<PathBuf, Environment>,
}

impl Shelf {
    /// Opens the tests of a campaign; none if there were none.
    pub fn open(root: PathBuf) -> io::Result<Shelf> {
        fs::create_dir_all(&root)?;
        let mut shelf = Shelf {
            root,
            unseen: HashMap::new(),
            seen: HashSet::new(),
            last: 0,
            environments: HashMap::new(),
        };
        let mut numbers = shelf.numbers()?;
        numbers.sort_unstable();
        for number in numbers {
            shelf.last = shelf.last.max(number);
            if let Some(label) = shelf.label(number) {
                shelf.unseen.entry(label.digest).or_default().push(number);
            }
        }
        Ok(shelf)
    }

    fn numbers(&self) -> io::Result<Vec<u64>> {
        let mut numbers = Vec::new();
        for entry in fs::read_dir(&self.root)? {
            let name = entry?.file_name();
            let number = name.to_str().and_then(|name| name.strip_prefix('T'));
            numbers.extend(number.and_then(|number| number.parse::<u64>().ok()));
        }
        Ok(numbers)
    }

    fn label(&self, number: u64) -> Option<Label> {
        let text = fs::read_to_string(self.directory(number).join("test.json")).ok()?;
        serde_json::from_str(&text).ok()
    }

    fn directory(&self, number: u64) -> PathBuf {
        self.root.join(format!("T{number}"))
    }

    /// The place of a test: the one it had before, or a new one.
    pub fn place(&mut self, digest: &str, command: &[String]) -> io::Result<Place> {
        let known = self.unseen.get_mut(digest).filter(|list| !list.is_empty());
        let number = known.map_or_else(
            || {
                self.last += 1;
                self.last
            },
            |list| list.remove(0),
        );
        self.seen.insert(number);
        let place = Place {
            id: format!("T{number}"),
            directory: self.directory(number),
        };
        place.clear()?;
        let label = Label {
            digest: digest.to_string(),
            command: command.to_vec(),
        };
        let text = serde_json::to_string_pretty(&label)?;
        write_atomically(&place.directory.join("test.json"), text.as_bytes())?;
        Ok(place)
    }

    /// An environment as the tests have it that were given the same.
    pub fn share(&mut self, mut environment: Environment) -> io::Result<Environment> {
        environment.keep_in(&self.root.join(ENVIRONMENTS))?;
        let Some(file) = environment.file().map(Path::to_path_buf) else {
            return Ok(environment);
        };
        Ok(self.environments.entry(file).or_insert(environment).clone())
    }

    /// A test was seen but is not looked at this time: it keeps its number.
    pub fn keep(&mut self, digest: &str) {
        let known = self.unseen.get_mut(digest).filter(|list| !list.is_empty());
        self.seen.extend(known.map(|list| list.remove(0)));
    }

    /// Removes the tests that the suite does not run any more.
    pub fn remove_unseen(&self) -> io::Result<()> {
        for number in self.numbers()? {
            if !self.seen.contains(&number) {
                fs::remove_dir_all(self.directory(number))?;
            }
        }
        let Ok(environments) = fs::read_dir(self.root.join(ENVIRONMENTS)) else {
            return Ok(());
        };
        for entry in environments {
            let path = entry?.path();
            if !self.environments.contains_key(&path) {
                fs::remove_file(path)?;
            }
        }
        Ok(())
    }
}

/// The place of one test.
#[derive(Debug)]
pub struct Place {
    /// `T1`.
    pub id: String,
    /// Its directory.
    pub directory: PathBuf,
}

impl Place {
    /// Removes what an earlier suite captured here, and nothing else.
    fn clear(&self) -> io::Result<()> {
        fs::create_dir_all(&self.directory)?;
        let files = self.files();
        if files.exists() {
            fs::remove_dir_all(&files)?;
        }
        match fs::remove_file(self.directory.join("stdin")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Where contents lie.
    pub fn files(&self) -> PathBuf {
        self.directory.join("files")
    }

    /// Where a content lies, if it is kept.
    pub fn content(&self, name: &OsStr) -> PathBuf {
        self.files().join(name)
    }

    /// Keeps a content, which other tests may have too.
    pub fn keep_content(&self, source: &Path, name: &OsStr) -> io::Result<()> {
        let kept = self.content(name);
        fs::create_dir_all(self.files())?;
        if !kept.exists() && fs::hard_link(source, &kept).is_err() {
            // Not every file system has hard links.
            fs::copy(source, &kept)?;
        }
        Ok(())
    }

    /// Keeps what it was fed.
    pub fn keep_stdin(&self, data: &[u8]) -> io::Result<PathBuf> {
        let path = self.directory.join("stdin");
        write_atomically(&path, data)?;
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_keep_their_numbers() {
        let root = tempfile::tempdir().unwrap();
        let open = || Shelf::open(root.path().join("tests")).unwrap();
        let mut shelf = open();
        let ids = ["a", "b", "b", "c"].map(|digest| shelf.place(digest, &[]).unwrap().id);
        assert_eq!(ids, ["T1", "T2", "T3", "T4"]);
        let mut shelf = open();
        let ids = ["d", "c", "b"].map(|digest| shelf.place(digest, &[]).unwrap().id);
        assert_eq!(ids, ["T5", "T4", "T2"]);
        shelf.keep("a");
        shelf.remove_unseen().unwrap();
        let mut left = shelf.numbers().unwrap();
        left.sort_unstable();
        assert_eq!(left, [1, 2, 4, 5]);
    }

    #[test]
    fn contents_are_shared_and_go_with_the_last_test() {
        let root = tempfile::tempdir().unwrap();
        let content = root.path().join("content");
        fs::write(&content, "text").unwrap();
        let mut shelf = Shelf::open(root.path().join("tests")).unwrap();
        let place = shelf.place("a", &[]).unwrap();
        place.keep_content(&content, OsStr::new("c1")).unwrap();
        let kept = place.content(OsStr::new("c1"));
        fs::remove_file(&content).unwrap();
        assert_eq!(fs::read_to_string(&kept).unwrap(), "text");
        fs::create_dir(place.directory.join("other")).unwrap();
        let mut shelf = Shelf::open(root.path().join("tests")).unwrap();
        let again = shelf.place("a", &[]).unwrap();
        assert!(!kept.exists() && again.directory.join("other").exists());
    }
}
