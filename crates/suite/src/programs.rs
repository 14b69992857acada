//! The programs of a suite: who they are, which variables they know, and copies of those that
//! will not stay.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::hash::Hasher;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use siphasher::sip::SipHasher13;

use super::digest::Digest;
use super::identity::TEMPORARY;
use super::skipped::Reason;

/// Largest program in a temporary directory that is copied.
const LARGEST_COPY: u64 = 64 << 20;

/// What is known about a program's file.
#[derive(Debug)]
pub struct ProgramFacts {
    /// Names its content.
    pub identity: String,
    /// Whether it has shared libraries besides those of the system.
    pub has_libraries: bool,
    /// Whether it may go through its whole environment, or hand it on: it knows a name of that, can start
    /// other programs, or was linked so that this cannot be seen.
    pub reads_all_variables: bool,
    /// Hashes of the words in it that may be names of variables.
    words: HashSet<u64>,
    /// Whether it lies where things do not stay.
    pub is_temporary: bool,
}

/// Libraries that come with the C compiler and read no variables but the known ones.
const SYSTEM_LIBRARIES: [&str; 9] = [
    "libc.",
    "libm.",
    "libpthread.",
    "libdl.",
    "librt.",
    "libgcc_s.",
    "ld-linux",
    "libutil.",
    "libcrypt.",
];

impl ProgramFacts {
    /// What a program's content says.
    pub fn of_content(content: &[u8]) -> ProgramFacts {
        let mut digest = Digest::new();
        digest.add(content);
        let mut facts = ProgramFacts {
            identity: digest.name(),
            has_libraries: false,
            reads_all_variables: reads_all_variables(content),
            words: HashSet::new(),
            is_temporary: false,
        };
        for text in content.split(|byte| *byte == 0) {
            if is_word(text) {
                facts.words.insert(hash(text));
            }
            facts.has_libraries |= is_library(text);
        }
        facts
    }

    /// Whether the program may ask for a variable of this name.
    pub fn mentions(&self, name: &[u8]) -> bool {
        !is_word(name) || self.words.contains(&hash(name))
    }
}

/// Functions that start other programs, and the names of the environment as a whole. (The runtime has
/// the other functions that execute programs in every program; calls of those are captured.)
const READ_ALL: [&str; 9] = [
    "environ",
    "__environ",
    "_environ",
    "execl",
    "execle",
    "execlp",
    "vfork",
    "dlopen",
    "wordexp",
];

fn reads_all_variables(content: &[u8]) -> bool {
    if !content.starts_with(b"\x7fELF") {
        return false;
    }
    let is_one = |name: &&[u8]| READ_ALL.iter().any(|one| one.as_bytes() == *name);
    nearmiss_twin::dynamic_symbols(content).is_none_or(|names| names.iter().any(is_one))
}

/// A text that a variable may be called: the program would have it as a string.
fn is_word(text: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    !text.is_empty() && text.len() <= 64 && text.iter().all(is_letter)
}

/// The name of a shared library that is not the system's, as a program lists it.
fn is_library(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else {
        return false;
    };
    let is_system = || SYSTEM_LIBRARIES.iter().any(|name| text.starts_with(name));
    text.starts_with("lib")
        && text.contains(".so")
        && !text.contains([' ', '/', '%'])
        && !is_system()
}

fn hash(word: &[u8]) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write(word);
    hasher.finish()
}

/// A file as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct State {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
}

impl State {
    fn of(path: &Path) -> io::Result<State> {
        let metadata = fs::metadata(path)?;
        Ok(State {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        })
    }
}

/// A program as it was when a test ran it.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Its file.
    path: PathBuf,
    state: State,
    /// What is known about it.
    pub facts: Arc<ProgramFacts>,
}

/// All programs of a suite.
#[derive(Debug)]
pub struct Programs {
    /// Where copies go.
    copies: PathBuf,
    /// Where the suite was started: what it builds there stays.
    suite_directory: PathBuf,
    known: HashMap<(PathBuf, State), Arc<ProgramFacts>>,
}

impl Programs {
    /// None yet.
    pub fn new(copies: PathBuf, suite_directory: &Path) -> Programs {
        Programs {
            copies,
            suite_directory: suite_directory.to_path_buf(),
            known: HashMap::new(),
        }
    }

    /// Looks at a program that has just run. `link` is another name of it, which it still has if it was
    /// removed or replaced meanwhile.
    pub fn see(&mut self, path: &Path, link: &Path) -> Result<Seen, Reason> {
        let now = State::of(path).ok();
        let ran = State::of(link).ok();
        let state = ran.or(now).ok_or(Reason::ProgramGone)?;
        if ran.is_some() && ran != now {
            return self.see_gone(path, link, state);
        }
        let key = (path.to_path_buf(), state);
        let facts = match self.known.get(&key) {
            Some(facts) => Arc::clone(facts),
            None => {
                let facts = Arc::new(self.read(path, state.size)?);
                self.known.insert(key, Arc::clone(&facts));
                facts
            }
        };
        Ok(Seen {
            path: path.to_path_buf(),
            state,
            facts,
        })
    }

    /// A program that is not there any more, but for this link to it: it is copied.
    fn see_gone(&mut self, path: &Path, link: &Path, state: State) -> Result<Seen, Reason> {
        let content = fs::read(link).map_err(|_| Reason::ProgramGone)?;
        let mut facts = ProgramFacts::of_content(&content);
        facts.is_temporary = true;
        if state.size <= LARGEST_COPY {
            let copied = self.copy(link, path, &facts.identity);
            copied.map_err(|_| Reason::ProgramGone)?;
        }
        Ok(Seen {
            path: path.to_path_buf(),
            state,
            facts: Arc::new(facts),
        })
    }

    fn read(&self, path: &Path, size: u64) -> Result<ProgramFacts, Reason> {
        let content = fs::read(path).map_err(|_| Reason::ProgramGone)?;
        let mut facts = ProgramFacts::of_content(&content);
        facts.is_temporary = TEMPORARY.iter().any(|base| path.starts_with(base))
            && !path.starts_with(&self.suite_directory);
        if facts.is_temporary && size <= LARGEST_COPY {
            // If that fails the program itself is taken, as long as it is there.
            let _ = self.copy(path, path, &facts.identity);
        }
        Ok(facts)
    }

    /// Copies `file`, which is, or was, the program `path`.
    fn copy(&self, file: &Path, path: &Path, identity: &str) -> io::Result<()> {
        let copy = self.copy_of(path, identity);
        if copy.exists() {
            return Ok(());
        }
        fs::create_dir_all(self.copies.join(identity))?;
        let new = copy.with_added_extension("new");
        fs::copy(file, &new)?;
        fs::rename(new, copy)
    }

    /// The copy keeps its name: reports show it, and programs look at it.
    fn copy_of(&self, path: &Path, identity: &str) -> PathBuf {
        let name = path.file_name().unwrap_or_default();
        self.copies.join(identity).join(name)
    }

    /// The file to run again: the program itself if it is still what it was, else its copy.
    pub fn file(&self, seen: &Seen) -> Result<PathBuf, Reason> {
        match State::of(&seen.path) {
            Ok(state) if state == seen.state => return Ok(seen.path.clone()),
            _ => {}
        }
        let copy = self.copy_of(&seen.path, &seen.facts.identity);
        if copy.exists() {
            return Ok(copy);
        }
        Err(match seen.path.exists() {
            _ if seen.facts.is_temporary => Reason::ProgramTooLarge,
            true => Reason::ProgramReplaced,
            false => Reason::ProgramGone,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_know_the_variables_they_mention() {
        let facts = ProgramFacts::of_content(b"\x7fELF\0TZ\0a KNOWN b\0libc.so.6\0LONG_NAME\0");
        assert!(facts.mentions(b"TZ") && facts.mentions(b"LONG_NAME"));
        assert!(!facts.mentions(b"KNOWN") && !facts.mentions(b"LONG"));
        assert!(facts.mentions(b"odd-name"), "nobody knows about odd names");
        assert!(!facts.has_libraries);
        assert!(ProgramFacts::of_content(b"\0libexpat.so.1\0").has_libraries);
    }

    #[test]
    fn programs_that_do_not_stay_are_copied() {
        let place = tempfile::Builder::new()
            .prefix("programs")
            .tempdir_in("/tmp")
            .unwrap();
        let program = place.path().join("prog");
        fs::write(&program, "one").unwrap();
        let mut programs = Programs::new(place.path().join("copies"), Path::new("/suite"));
        let no_link = Path::new("/no/such");
        let seen = programs.see(&program, no_link).unwrap();
        assert_eq!(programs.file(&seen), Ok(program.clone()));
        fs::remove_file(&program).unwrap();
        fs::write(&program, "other").unwrap();
        let copy = programs.file(&seen).unwrap();
        assert_eq!(fs::read_to_string(copy).unwrap(), "one");
        let again = programs.see(&program, no_link).unwrap();
        assert_ne!(again.facts.identity, seen.facts.identity);
        assert_eq!(
            programs.see(no_link, no_link).unwrap_err(),
            Reason::ProgramGone
        );
    }

    #[test]
    fn programs_that_are_removed_at_once_are_copied_from_their_links() {
        let place = tempfile::tempdir().unwrap();
        let (program, link) = (place.path().join("prog"), place.path().join("1.program"));
        fs::write(&program, "one").unwrap();
        fs::hard_link(&program, &link).unwrap();
        fs::remove_file(&program).unwrap();
        let mut programs = Programs::new(place.path().join("copies"), place.path());
        let seen = programs.see(&program, &link).unwrap();
        fs::remove_file(&link).unwrap();
        let copy = programs.file(&seen).unwrap();
        assert_eq!(fs::read_to_string(copy).unwrap(), "one");
    }
}
