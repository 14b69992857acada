//! Contents of files, kept once for all processes.
//!
//! What is kept is named after the file's identity and times, so a second process finds it
//! there. Times of files have the grain of the kernel's clock: a file that was changed just
//! now may change again without another time, and gets a name that nobody else will find.

use nearmiss_abi::capture::{FILES, Loss};

use super::absolute::Path;
use super::kernel::{self, Details, EPERM, Part, open};
use super::meeting::push_large_number;
use super::{Capture, Limits};
use crate::system::{self, Errno};
use crate::text::Text;

/// The name of a content.
pub type Name = Text<160>;

/// How old the last change must be.
const GRAIN: i128 = 20_000_000;
/// The content of every file that has none.
const EMPTY: &[u8] = b"empty";

/// What this process has kept.
pub struct Store {
    bytes: u64,
    copies: u32,
}

/// What is to be kept.
pub struct Wanted<'a> {
    /// Where it is read: an open file, or the path of one.
    pub source: Source<'a>,
    /// What is known about it.
    pub details: Details,
    /// Where its content starts.
    pub offset: u64,
}

/// Where content is read.
pub enum Source<'a> {
    /// From an open file, whose position stays.
    Open(i32),
    /// From the file at a path that ends with a zero.
    At(&'a Path),
}

impl Store {
    fn is_within(&self, limits: &Limits, size: u64) -> Result<(), Loss> {
        if size > limits.file {
            return Err(Loss::FileTooLarge);
        }
        if size.saturating_add(self.bytes) > limits.files {
            return Err(Loss::FilesTooLarge);
        }
        match size > system::file_size_limit() {
            true => Err(Loss::NoRoom),
            false => Ok(()),
        }
    }
}

impl Capture {
    /// Keeps the content of the file whose path is in `self.path`: its name among the files.
    pub fn keep_path(&mut self, details: Details) -> Result<Name, Loss> {
        let wanted = Wanted {
            source: Source::At(&self.path),
            details,
            offset: 0,
        };
        let place = Place {
            directory: self.directory.text(),
            path: &mut self.other,
            scratch: &mut self.scratch,
        };
        keep(&mut self.store, &self.limits, place, &wanted)
    }

    /// Keeps what is left of an open file.
    pub fn keep_open(&mut self, fd: i32, details: Details, offset: u64) -> Result<Name, Loss> {
        let wanted = Wanted {
            source: Source::Open(fd),
            details,
            offset,
        };
        let place = Place {
            directory: self.directory.text(),
            path: &mut self.other,
            scratch: &mut self.scratch,
        };
        keep(&mut self.store, &self.limits, place, &wanted)
    }
}

/// Where contents are put, and room to work with.
struct Place<'a> {
    directory: &'a [u8],
    path: &'a mut Path,
    scratch: &'a mut [u8],
}

impl Place<'_> {
    /// The path of a content, or of the directory for no name.
    fn path_of(&mut self, name: &[u8]) -> Option<*const u8> {
        self.path.clear();
        let fits = self.path.push(self.directory)
            && self.path.push(b"/")
            && self.path.push(FILES.as_bytes())
            && (name.is_empty() || self.path.push(b"/") && self.path.push(name));
        fits.then_some(self.path.as_ptr())
    }

    fn has(&mut self, name: &[u8], size: u64) -> bool {
        let path = self.path_of(name);
        path.is_some_and(|path| {
            let found = kernel::details_at(crate::files::AT_FDCWD, path);
            found.is_ok_and(|details| details.size() == size)
        })
    }

    /// Makes a new file of this name.
    fn create(&mut self, name: &[u8]) -> Result<i32, Loss> {
        let how = open::WRONLY | open::CREAT | open::EXCL | open::CLOEXEC;
        for is_last in [false, true] {
            let path = self.path_of(name).ok_or(Loss::NoRoom)?;
            // SAFETY: a text ends with a zero.
            match unsafe { system::open(path, how, 0o600) } {
                Ok(fd) => {
                    // Whatever the mask of the program is.
                    kernel::permit(fd, 0o600);
                    return Ok(fd);
                }
                Err(kernel::ENOENT) if !is_last => {
                    let directory = self.path_of(b"").ok_or(Loss::NoRoom)?;
                    // SAFETY: a text ends with a zero.
                    unsafe { kernel::make_directory(directory) };
                }
                Err(_) => break,
            }
        }
        Err(Loss::NoRoom)
    }
}

fn keep(
    store: &mut Store,
    limits: &Limits,
    mut place: Place<'_>,
    wanted: &Wanted<'_>,
) -> Result<Name, Loss> {
    let size = wanted.details.size().saturating_sub(wanted.offset);
    store.is_within(limits, size)?;
    let mut name = name_of(wanted).ok_or(Loss::NoRoom)?;
    let is_settled = is_settled(&wanted.details) || size == 0;
    if !(is_settled && place.has(name.text(), size)) {
        store.copies += 1;
        let unfinished = own_name(b".", store.copies).ok_or(Loss::NoRoom)?;
        let copied = copy(&mut place, wanted, unfinished.text(), size);
        let is_same = copied.and_then(|is_same| {
            let own = own_name(b"-", store.copies).ok_or(Loss::NoRoom)?;
            let fits = (is_same && is_settled) || name.push(own.text());
            let finished = fits && finish(&mut place, unfinished.text(), name.text());
            finished.then_some(()).ok_or(Loss::NoRoom)
        });
        if let Err(loss) = is_same {
            if let Some(path) = place.path_of(unfinished.text()) {
                // SAFETY: a text ends with a zero.
                unsafe { kernel::remove(path) };
            }
            return Err(loss);
        }
    }
    store.bytes += size;
    Ok(name)
}

/// Whether a change from now on would change its times.
fn is_settled(details: &Details) -> bool {
    let modified = kernel::nanoseconds(details.modified());
    let changed = kernel::nanoseconds(details.changed());
    kernel::now() - modified.max(changed) > GRAIN
}

fn name_of(wanted: &Wanted<'_>) -> Option<Name> {
    let details = &wanted.details;
    let mut name = Name::EMPTY;
    if details.size() <= wanted.offset {
        return name.push(EMPTY).then_some(name);
    }
    let time = |(seconds, rest)| kernel::nanoseconds((seconds, rest)) as u64;
    let numbers = [
        details.device(),
        details.inode(),
        details.size(),
        time(details.modified()),
        time(details.changed()),
    ];
    let mut parts = numbers.into_iter();
    let fits = parts.all(|number| {
        (name.text().is_empty() || name.push(b"-")) && push_large_number(&mut name, number)
    });
    let fits = fits
        && (wanted.offset == 0 || name.push(b"@") && push_large_number(&mut name, wanted.offset));
    fits.then_some(name)
}

/// A name that no other process has.
fn own_name(prefix: &[u8], copies: u32) -> Option<Text<40>> {
    let mut name = Text::EMPTY;
    let fits = name.push(prefix)
        && name.push_number(system::process())
        && name.push(b"-")
        && name.push_number(copies)
        && name.push(b"-")
        && push_large_number(&mut name, (kernel::now() as u64 / 1000) % 1_000_000_000);
    fits.then_some(name)
}

/// Copies content; whether the file was the same before and after.
fn copy(place: &mut Place<'_>, wanted: &Wanted<'_>, name: &[u8], size: u64) -> Result<bool, Loss> {
    let from = match &wanted.source {
        Source::Open(fd) => *fd,
        Source::At(path) => open_quietly(path).map_err(|_| Loss::Unreadable)?,
    };
    let copied = place.create(name).and_then(|to| {
        let copied = copy_bytes(place.scratch, from, wanted.offset, to, size);
        system::close(to);
        copied
    });
    let now = kernel::details(from);
    if let Source::At(_) = wanted.source {
        system::close(from);
    }
    copied?;
    Ok(now.is_ok_and(|now| now.is_same_content(&wanted.details)))
}

/// Opens a file for reading, so that it cannot be noticed.
fn open_quietly(path: &Path) -> Result<i32, Errno> {
    let how = open::CLOEXEC | open::NOFOLLOW | open::NONBLOCK;
    // SAFETY: a text ends with a zero.
    unsafe {
        match system::open(path.as_ptr(), how | open::NOATIME, 0) {
            Err(EPERM) => system::open(path.as_ptr(), how, 0),
            other => other,
        }
    }
}

fn copy_bytes(scratch: &mut [u8], from: i32, offset: u64, to: i32, size: u64) -> Result<(), Loss> {
    let mut done = 0;
    while done < size {
        let wanted = scratch.len().min((size - done) as usize);
        // SAFETY: the slice has room.
        let read = unsafe { system::pread(from, scratch.as_mut_ptr(), wanted, offset + done) };
        let got = read.map_err(|_| Loss::Unreadable)?;
        if got == 0 {
            break;
        }
        let piece = Part::of(scratch.get(..got).unwrap_or(&[]));
        // SAFETY: a piece of a slice.
        if unsafe { kernel::write(to, &[piece]) } != Ok(got) {
            return Err(Loss::NoRoom);
        }
        done += got as u64;
    }
    Ok(())
}

fn finish(place: &mut Place<'_>, unfinished: &[u8], name: &[u8]) -> bool {
    let mut old = Text::<4400>::EMPTY;
    let Some(_) = place.path_of(unfinished) else {
        return false;
    };
    if !old.push(place.path.text()) {
        return false;
    }
    let new = place.path_of(name);
    // SAFETY: texts end with a zero.
    new.is_some_and(|new| unsafe { kernel::rename(old.as_ptr(), new).is_ok() })
}
