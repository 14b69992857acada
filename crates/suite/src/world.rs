//! The world of a test: what it found in the file system, as far as the disk is different now.
//!
//! What is still as it was is not listed: the sandbox shows the disk. A directory whose entries
//! were listed is made to have the same names again: those that are gone come back as
//! placeholders, those that are new are hidden.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use nearmiss_capture::{Captured, CapturedPath, Loss, Nature as Was};
use nearmiss_sandbox::{Nature, Thing};

/// The world of a test, parents before children. `content` says where a content lies.
pub fn build(captured: &Captured, content: impl Fn(&OsStr) -> PathBuf) -> Vec<Thing> {
    let mut world = World {
        things: BTreeMap::new(),
    };
    let rows = captured.paths.iter();
    let rows = rows.filter(|row| !is_kernel(&row.path));
    for row in rows.clone() {
        world.add_row(row, &content);
    }
    let known: BTreeSet<&Path> = rows.clone().map(|row| row.path.as_path()).collect();
    let is_cut = |row: &CapturedPath| {
        captured.losses.iter().any(|lost| {
            lost.loss == Loss::DirectoryTooLarge && lost.path.as_ref() == Some(&row.path)
        })
    };
    for row in rows.filter(|row| !is_cut(row)) {
        world.add_listing(row, &known);
    }
    world.remove_orphans();
    world.add_directory(&captured.directory);
    world.add_parents();
    world.things.into_values().collect()
}

/// The names of contents in this directory that a world needs, each once.
pub fn contents<'a>(world: &'a [Thing], directory: &Path) -> BTreeSet<&'a OsStr> {
    let content = |thing: &'a Thing| match &thing.nature {
        Nature::File { content, .. } => content.as_ref(),
        _ => None,
    };
    let contents = world.iter().filter_map(content);
    let contents = contents.filter(|content| content.parent() == Some(directory));
    contents.filter_map(|content| content.file_name()).collect()
}

/// Whether what was at a path is there still.
pub fn is_unchanged(row: &CapturedPath) -> bool {
    match fs::symlink_metadata(&row.path) {
        Ok(now) => is_same(row, &now),
        Err(_) => row.nature == Was::Absent,
    }
}

fn is_same(row: &CapturedPath, now: &Metadata) -> bool {
    let kind = now.file_type();
    let same_mode = row.mode & 0o7777 == now.mode() & 0o7777;
    let modified = (now.mtime(), now.mtime_nsec() as u32);
    match &row.nature {
        Was::Absent => false,
        Was::File { .. } => {
            let same_file = row.identity == (now.dev(), now.ino());
            let same_content = row.size == now.size() && row.modified == modified;
            kind.is_file() && same_file && same_content && same_mode
        }
        Was::Directory { .. } => kind.is_dir() && same_mode,
        Was::Link(target) => {
            kind.is_symlink() && fs::read_link(&row.path).is_ok_and(|now| now == *target)
        }
        Was::Pipe => kind.is_fifo() && same_mode,
        // Nobody can bring them back.
        Was::Socket | Was::Device => true,
    }
}

/// The kernel's own: these are made anew by the sandbox.
fn is_kernel(path: &Path) -> bool {
    ["/proc", "/sys", "/dev"]
        .iter()
        .any(|directory| path.starts_with(directory))
}

struct World {
    things: BTreeMap<PathBuf, Thing>,
}

impl World {
    fn add(&mut self, path: &Path, nature: Nature, mode: u32, modified: (i64, u32)) {
        let thing = Thing {
            path: path.to_path_buf(),
            nature,
            mode,
            modified,
        };
        self.things.insert(path.to_path_buf(), thing);
    }

    fn add_row(&mut self, row: &CapturedPath, content: &impl Fn(&OsStr) -> PathBuf) {
        if is_unchanged(row) {
            return;
        }
        let nature = match &row.nature {
            Was::Absent => Nature::Absent,
            Was::File { content: name } => Nature::File {
                content: match name {
                    Some(name) => Some(content(name)),
                    None => file_of_size(&row.path, row.size),
                },
                size: row.size,
            },
            Was::Directory { .. } => Nature::Directory,
            Was::Link(target) => Nature::Link(target.clone()),
            Was::Pipe => Nature::Pipe,
            Was::Socket | Was::Device => return,
        };
        self.add(&row.path, nature, row.mode & 0o7777, row.modified);
    }

    /// Makes a listed directory have its old entries; `known` paths speak for themselves.
    fn add_listing(&mut self, row: &CapturedPath, known: &BTreeSet<&Path>) {
        let Was::Directory {
            entries: Some(entries),
        } = &row.nature
        else {
            return;
        };
        let now = fs::read_dir(&row.path).into_iter().flatten().flatten();
        let now: BTreeSet<OsString> = now.map(|entry| entry.file_name()).collect();
        let then: BTreeSet<&OsString> = entries.iter().map(|entry| &entry.name).collect();
        for entry in entries {
            let path = row.path.join(&entry.name);
            if !now.contains(&entry.name) && !known.contains(path.as_path()) {
                self.add_placeholder(&path, entry.kind, row.modified);
            }
        }
        for name in now.iter().filter(|name| !then.contains(name)) {
            let path = row.path.join(name);
            if !known.contains(path.as_path()) {
                self.add(&path, Nature::Absent, 0, (0, 0));
            }
        }
    }

    fn add_placeholder(&mut self, path: &Path, kind: u8, modified: (i64, u32)) {
        let empty = Nature::File {
            content: None,
            size: 0,
        };
        let (nature, mode) = match kind {
            libc::DT_REG | libc::DT_UNKNOWN => (empty, 0o644),
            libc::DT_DIR => (Nature::Directory, 0o755),
            // Where it led is not known: somewhere that is not there.
            libc::DT_LNK => (Nature::Link("/nonexistent".into()), 0o777),
            libc::DT_FIFO => (Nature::Pipe, 0o644),
            _ => return,
        };
        self.add(path, nature, mode, modified);
    }

    /// The working directory was there, whatever else is known.
    fn add_directory(&mut self, directory: &Path) {
        if !directory.is_dir() && !self.things.contains_key(directory) {
            self.add(directory, Nature::Directory, 0o755, (0, 0));
        }
    }

    /// What is there has parents that are directories.
    fn add_parents(&mut self) {
        let present = self
            .things
            .values()
            .filter(|thing| thing.nature != Nature::Absent);
        let parents: BTreeSet<PathBuf> = present
            .flat_map(|thing| thing.path.ancestors().skip(1))
            .map(Path::to_path_buf)
            .collect();
        for parent in parents {
            if !self.things.contains_key(&parent) && !parent.is_dir() {
                self.add(&parent, Nature::Directory, 0o755, (0, 0));
            }
        }
    }

    /// What lies below nothing was made later, by the test itself.
    fn remove_orphans(&mut self) {
        let things = std::mem::take(&mut self.things);
        for (path, thing) in things {
            let below_nothing = path.ancestors().skip(1).any(|above| {
                let above = self.things.get(above);
                above.is_some_and(|above| above.nature == Nature::Absent)
            });
            if !below_nothing {
                self.things.insert(path, thing);
            }
        }
    }
}

/// A file on the disk that has this size: a program that only asked about the old one had no use
/// for its content, and one that goes another way meets a real one.
fn file_of_size(path: &Path, size: u64) -> Option<PathBuf> {
    let now = fs::symlink_metadata(path).ok()?;
    (now.is_file() && now.len() == size).then(|| path.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{captured, file, row_of};
    use nearmiss_capture::Entry;

    /// A directory in which a test took place, and its capsule.
    struct Place {
        directory: tempfile::TempDir,
        test: Captured,
    }

    impl Place {
        fn new() -> Place {
            let directory = tempfile::tempdir().unwrap();
            let test = captured(directory.path().to_str().unwrap(), &["prog"]);
            Place { directory, test }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.directory.path().join(name)
        }

        /// The program uses a path, which is captured as it is now.
        fn uses(&mut self, name: &str) {
            let row = row_of(&self.path(name));
            self.test.paths.push(row);
        }

        /// The world in words: names with a letter for their nature.
        fn world(&self) -> String {
            let things = build(&self.test, |name| Path::new("/content").join(name));
            let words = things.iter().map(|thing| {
                let path = thing.path.strip_prefix(self.directory.path());
                let path = path.unwrap_or(&thing.path).display();
                match &thing.nature {
                    Nature::Absent => format!("-{path}"),
                    Nature::Directory => format!("{path}/"),
                    Nature::File { content, size } => match content {
                        Some(content) => format!("{path}={}", content.display()),
                        None => format!("{path}:{size}"),
                    },
                    Nature::Link(target) => format!("{path}->{}", target.display()),
                    Nature::Pipe => format!("{path}|"),
                }
            });
            words.collect::<Vec<String>>().join(" ")
        }
    }

    #[test]
    fn what_did_not_change_is_left_to_the_disk() {
        let mut place = Place::new();
        fs::write(place.path("in"), "text").unwrap();
        fs::create_dir(place.path("d")).unwrap();
        std::os::unix::fs::symlink("in", place.path("link")).unwrap();
        for name in ["in", "d", "link", "none", "."] {
            place.uses(name);
        }
        assert_eq!(place.world(), "");
    }

    #[test]
    fn what_is_gone_comes_back_and_what_is_new_goes() {
        let mut place = Place::new();
        fs::create_dir_all(place.path("d/e")).unwrap();
        fs::write(place.path("d/e/in"), "text").unwrap();
        fs::write(place.path("asked"), "text").unwrap();
        std::os::unix::fs::symlink("in", place.path("link")).unwrap();
        for name in ["d/e/in", "link", "out", "asked"] {
            place.uses(name);
        }
        place.test.paths[0].nature = file("c1");
        fs::remove_dir_all(place.path("d")).unwrap();
        fs::remove_file(place.path("link")).unwrap();
        fs::remove_file(place.path("asked")).unwrap();
        fs::write(place.path("out"), "new").unwrap();
        assert_eq!(
            place.world(),
            "asked:4 d/ d/e/ d/e/in=/content/c1 link->in -out"
        );
    }

    #[test]
    fn files_that_changed_have_their_old_content() {
        let mut place = Place::new();
        for name in ["in", "asked"] {
            fs::write(place.path(name), "text").unwrap();
            place.uses(name);
            fs::remove_file(place.path(name)).unwrap();
            fs::write(place.path(name), "TEXT").unwrap();
        }
        place.test.paths[0].nature = file("c1");
        let asked = place.path("asked");
        assert_eq!(
            place.world(),
            format!("asked={} in=/content/c1", asked.display())
        );
    }

    #[test]
    fn listed_directories_have_their_old_entries() {
        let mut place = Place::new();
        fs::create_dir(place.path("d")).unwrap();
        fs::write(place.path("d/old"), "").unwrap();
        fs::write(place.path("d/read"), "x").unwrap();
        place.uses("d");
        place.uses("d/read");
        place.test.paths[1].nature = file("c1");
        let entries = [(8, "old"), (8, "read"), (4, "sub"), (10, "l")];
        let entries = entries.map(|(kind, name)| Entry {
            name: name.into(),
            kind,
        });
        place.test.paths[0].nature = Was::Directory {
            entries: Some(entries.to_vec()),
        };
        fs::remove_file(place.path("d/read")).unwrap();
        fs::write(place.path("d/new"), "").unwrap();
        assert_eq!(
            place.world(),
            "d/l->/nonexistent -d/new d/read=/content/c1 d/sub/"
        );
    }

    #[test]
    fn a_working_directory_that_is_gone_comes_back() {
        let mut place = Place::new();
        place.test.directory = place.path("gt.X/sub");
        assert_eq!(place.world(), "gt.X/ gt.X/sub/");
    }

    #[test]
    fn what_a_test_made_itself_is_not_there_before_it() {
        let mut place = Place::new();
        for name in ["d", "d/f"] {
            place.uses(name);
        }
        fs::create_dir(place.path("d")).unwrap();
        fs::write(place.path("d/g"), "").unwrap();
        // A child of the program, unseen by us, made it before the program read it.
        place.uses("d/g");
        fs::remove_file(place.path("d/g")).unwrap();
        fs::write(place.path("d/f"), "").unwrap();
        assert_eq!(place.world(), "-d");
    }

    #[test]
    fn what_the_kernel_makes_is_left_to_it() {
        let mut place = Place::new();
        place.uses("/proc/self/stat");
        place.test.paths[0].identity = (1, 1);
        assert_eq!(place.world(), "");
    }
}
