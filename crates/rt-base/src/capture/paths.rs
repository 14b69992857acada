//! Paths as they were before the process first used them.
//!
//! A table of hashes remembers which paths have their row already. It is this process's own: a
//! forked child writes rows that its parent writes as well, and who reads the capsule believes
//! the first.

use nearmiss_abi::capture::{Loss, PathNature, PathRow, RecordKind};

use super::Capture;
use super::absolute;
use super::kernel::{self, Details, EFAULT, ENOENT, ENOTDIR, kind, open};
use super::store::Name;
use crate::files::is_system;
use crate::system::{self, Errno};

/// What the program is going to do with a path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Something with the name itself: remove it, make it, ask what it is.
    Name,
    /// It asks what the name leads to.
    Status,
    /// It opens it, to read it, change part of it, or list it.
    Content,
    /// It makes it new or empty.
    Write,
    /// It gives what the name stands for another name.
    Move,
}

impl Use {
    fn follows_links(self) -> bool {
        !matches!(self, Use::Name | Use::Move)
    }

    fn needs_content(self) -> bool {
        matches!(self, Use::Content | Use::Move)
    }
}

/// The longest path that the kernel takes, with its zero.
const LONGEST: usize = 4096;
/// Links that lead to links.
const MOST_LINKS: u32 = 16;
/// Paths that are remembered; a power of two.
const MOST_PATHS: usize = 1 << 14;
/// Its row is written.
const KNOWN: u64 = 1;
/// Its content is, too, or never will be.
const FULL: u64 = 2;
const FLAGS: u64 = KNOWN | FULL;

/// Which paths have a row: hashes, with flags in their lowest bits.
pub struct Table {
    rows: [u64; MOST_PATHS],
    count: usize,
    told: bool,
}

impl Table {
    /// No paths yet.
    #[cfg(test)]
    pub const fn none() -> Table {
        Table {
            rows: [0; MOST_PATHS],
            count: 0,
            told: false,
        }
    }

    /// Whether a path has a row.
    fn knows(&self, path: &[u8]) -> bool {
        let hash = hash(path) & !FLAGS;
        let mut index = (hash >> 20) as usize % MOST_PATHS;
        while let Some(&row) = self.rows.get(index).filter(|row| **row != 0) {
            if row & !FLAGS == hash {
                return row & KNOWN != 0;
            }
            index = (index + 1) % MOST_PATHS;
        }
        false
    }

    /// The place of a path, old or new; `None` if there is no room.
    fn place(&mut self, path: &[u8]) -> Option<&mut u64> {
        let hash = hash(path) & !FLAGS;
        let mut index = (hash >> 20) as usize % MOST_PATHS;
        while let Some(&row) = self.rows.get(index) {
            if row & !FLAGS == hash && row != 0 {
                return self.rows.get_mut(index);
            }
            if row == 0 {
                break;
            }
            index = (index + 1) % MOST_PATHS;
        }
        // A quarter stays free, so that searches end soon.
        if self.count >= MOST_PATHS / 4 * 3 {
            return None;
        }
        let place = self.rows.get_mut(index)?;
        *place = hash;
        self.count += 1;
        Some(place)
    }
}

/// FNV-1a; never what a free place has.
fn hash(path: &[u8]) -> u64 {
    let fold = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    let hash = path.iter().fold(0xcbf2_9ce4_8422_2325, fold);
    hash ^ hash >> 32 | 1 << 63
}

impl Capture {
    /// The program is about to use a path: its row, if it has none.
    pub(super) fn use_path(&mut self, how: Use, directory: i32, path: *const u8) {
        if path.is_null() {
            return;
        }
        let mut found = kernel::details_at(directory, path);
        if matches!(found, Err(EFAULT)) {
            return;
        }
        // SAFETY: the kernel has just read the path to its zero, or as far as it goes.
        let text = unsafe {
            let size = system::length_within(path, LONGEST);
            core::slice::from_raw_parts(path, size)
        };
        let made = !text.is_empty()
            && text.len() < LONGEST
            && absolute::make(&mut self.path, &mut self.other, directory, text);
        if !made {
            return;
        }
        for _ in 0..MOST_LINKS {
            if !self.note_path(how, found) || !self.follow_link() {
                return;
            }
            found = kernel::details_at(directory, self.path.as_ptr());
        }
    }

    /// The program uses an open directory of its own.
    pub fn use_descriptor(&mut self, how: Use, fd: i32) {
        if absolute::name_of_descriptor(&mut self.path, fd) {
            let found = kernel::details_at(-1, self.path.as_ptr());
            self.note_path(how, found);
        }
    }

    /// A file was made under a name that did not exist.
    ///
    /// # Safety
    /// `path` ends with a zero.
    pub unsafe fn made_path(&mut self, path: *const u8) {
        // SAFETY: as promised by the caller.
        let text = unsafe { system::text(path) };
        let here = crate::files::AT_FDCWD;
        if absolute::make(&mut self.path, &mut self.other, here, text) {
            self.note_path(Use::Write, Err(ENOENT));
        }
    }

    /// Writes the row of the path in `self.path` as [`Capture::note_one`] does. What is not there
    /// may be going to be made: then it matters whether the directory for it is there.
    fn note_path(&mut self, how: Use, found: Result<Details, Errno>) -> bool {
        let follows = self.note_one(how, found);
        if matches!(found, Err(ENOENT)) {
            self.note_directories_above();
        }
        follows
    }

    /// Rows of the directories above `self.path`, up to the first that is there.
    fn note_directories_above(&mut self) {
        loop {
            let size = absolute::parent_size(self.path.text());
            self.path.shorten(size);
            if size == 0 || self.paths.knows(self.path.text()) {
                return;
            }
            let found = kernel::details_at(crate::files::AT_FDCWD, self.path.as_ptr());
            self.note_one(Use::Name, found);
            if found.is_ok() {
                return;
            }
        }
    }

    /// Writes the row of the path in `self.path`, unless it has one that is good enough.
    /// Whether it is a link that the program follows.
    fn note_one(&mut self, how: Use, found: Result<Details, Errno>) -> bool {
        let path = self.path.text();
        if is_system(path) || is_below(path, self.directory.text()) {
            return false;
        }
        let is_link = found.is_ok_and(|details| details.kind() == kind::LINK);
        let Some(place) = self.paths.place(path) else {
            if !core::mem::replace(&mut self.paths.told, true) {
                self.log.lost(Loss::TooManyPaths, b"");
            }
            return false;
        };
        let (known, full) = (*place & KNOWN != 0, *place & FULL != 0);
        // What the program is going to write is its own from now on, and so is what was not
        // there.
        let is_last = how.needs_content() || how == Use::Write || found.is_err();
        *place |= if is_last { FLAGS } else { KNOWN };
        if !known || (how.needs_content() && !full) {
            self.write_row(how, found);
        }
        is_link && how.follows_links()
    }

    /// Puts where the link in `self.path` leads into its place.
    fn follow_link(&mut self) -> bool {
        // SAFETY: a text ends with a zero.
        let read = self
            .other
            .write(|bytes| unsafe { system::read_link(self.path.as_ptr(), bytes) });
        if !read {
            return false;
        }
        let size = match self.other.text().first() {
            Some(b'/') => 0,
            _ => absolute::parent_size(self.path.text()),
        };
        self.path.shorten(size);
        absolute::push_components(&mut self.path, self.other.text())
    }

    fn write_row(&mut self, how: Use, found: Result<Details, Errno>) {
        let details = match found {
            Ok(details) => details,
            Err(ENOENT | ENOTDIR) => return self.put_row(PathNature::Absent, None, Rest::Nothing),
            Err(_) => return self.log.lost(Loss::Unreadable, self.path.text()),
        };
        let nature = match details.kind() {
            kind::REGULAR => PathNature::File,
            kind::DIRECTORY => PathNature::Directory,
            kind::LINK => PathNature::Link,
            kind::PIPE => PathNature::Pipe,
            kind::SOCKET => PathNature::Socket,
            _ => PathNature::Device,
        };
        let rest = match nature {
            PathNature::File if how.needs_content() => match self.keep_path(details) {
                Ok(name) => Rest::Content(name),
                Err(loss) => {
                    self.log.lost(loss, self.path.text());
                    Rest::Nothing
                }
            },
            PathNature::Directory if how == Use::Content => self.list(),
            PathNature::Link => self.target(),
            _ => Rest::Nothing,
        };
        self.put_row(nature, Some(details), rest);
    }

    /// The target of the link in `self.path`, in the scratch room.
    fn target(&mut self) -> Rest {
        let (path, scratch) = (self.path.as_ptr(), &mut self.scratch);
        // SAFETY: a text ends with a zero.
        unsafe { system::read_link(path, scratch) }.map_or(Rest::Nothing, Rest::Scratch)
    }

    /// The entries of the directory in `self.path`, in the scratch room.
    fn list(&mut self) -> Rest {
        let how = open::DIRECTORY | open::CLOEXEC | open::NOFOLLOW;
        // SAFETY: a text ends with a zero.
        let Ok(fd) = (unsafe { system::open(self.path.as_ptr(), how, 0) }) else {
            self.log.lost(Loss::Unreadable, self.path.text());
            return Rest::Nothing;
        };
        let (raw, list) = self.scratch.split_at_mut(RAW_ENTRIES);
        let mut used = 0;
        let mut fits = true;
        while let Ok(size) = kernel::entries(fd, raw) {
            if size == 0 || !fits {
                break;
            }
            fits = copy_entries(raw.get(..size).unwrap_or(&[]), list, &mut used);
        }
        system::close(fd);
        if !fits {
            self.log.lost(Loss::DirectoryTooLarge, self.path.text());
        }
        Rest::Listed(used)
    }

    fn put_row(&mut self, nature: PathNature, details: Option<Details>, rest: Rest) {
        let path = self.path.text();
        let bytes = match &rest {
            Rest::Nothing => &[][..],
            Rest::Content(name) => name.text(),
            Rest::Scratch(size) => self.scratch.get(..*size).unwrap_or(&[]),
            Rest::Listed(size) => {
                let end = RAW_ENTRIES + size;
                self.scratch.get(RAW_ENTRIES..end).unwrap_or(&[])
            }
        };
        let mut row = PathRow {
            nature: nature as u32,
            listed: matches!(rest, Rest::Listed(_)).into(),
            path_size: path.len() as u32,
            rest_size: bytes.len() as u32,
            ..PathRow::default()
        };
        if let Some(details) = details {
            row.mode = details.permissions();
            row.device = details.device();
            row.inode = details.inode();
            row.size = details.size();
            (row.modified, row.modified_nanoseconds) = details.modified();
        }
        // SAFETY: the row has no padding.
        let row: &[u8] =
            unsafe { core::slice::from_raw_parts((&raw const row).cast(), size_of::<PathRow>()) };
        self.log.record(RecordKind::Path, &[row, path, bytes]);
    }
}

/// The part of the scratch room that the kernel's entries are read into.
const RAW_ENTRIES: usize = 32 << 10;

/// What follows the path of a row.
enum Rest {
    Nothing,
    /// The name of a content.
    Content(Name),
    /// So many bytes of the scratch room.
    Scratch(usize),
    /// So many bytes of entries, in the second part of the scratch room.
    Listed(usize),
}

/// Copies the kernel's entries (`u64 inode, u64 offset, u16 size, u8 type, name, 0`) as
/// `type, name, 0`. `false` if there is no more room.
fn copy_entries(mut raw: &[u8], list: &mut [u8], used: &mut usize) -> bool {
    const HEAD: usize = 19;
    while let Some(&[low, high, kind]) = raw.get(HEAD - 3..HEAD) {
        let size = u16::from_le_bytes([low, high]) as usize;
        let (Some(entry), Some(rest)) = (raw.get(HEAD..size), raw.get(size..)) else {
            return true;
        };
        let end = entry.iter().position(|&byte| byte == 0);
        let name = entry.get(..end.unwrap_or(entry.len())).unwrap_or(&[]);
        if name != b"." && name != b".." {
            let Some(room) = list.get_mut(*used..*used + name.len() + 2) else {
                return false;
            };
            let bytes = [kind].into_iter().chain(name.iter().copied()).chain([0]);
            for (place, byte) in room.iter_mut().zip(bytes) {
                *place = byte;
            }
            *used += name.len() + 2;
        }
        raw = rest;
    }
    true
}

/// Whether the path is that directory or below it.
fn is_below(path: &[u8], directory: &[u8]) -> bool {
    path.strip_prefix(directory)
        .is_some_and(|rest| matches!(rest.first(), None | Some(b'/')))
}

#[cfg(test)]
mod tests;
