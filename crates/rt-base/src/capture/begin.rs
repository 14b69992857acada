//! The start of a capsule: what the process was started with.

use core::sync::atomic::Ordering;

use nearmiss_abi::capture::{OPTION_FILE, OPTION_FILES, RecordKind};

use super::join::{Opened, Start};
use super::{ACTIVE, Capture, Limits, kernel, prepare, with};
use crate::auxiliary;
use crate::system;
use crate::text::parse_number;

/// Where to capture to, and how much.
pub struct Request<'a> {
    /// The directory.
    pub directory: &'a [u8],
    /// The limits.
    pub limits: Limits,
}

impl<'a> Request<'a> {
    /// What a meeting place says: `DIRECTORY\0OPTIONS\0`.
    pub fn parse(message: &'a [u8]) -> Option<Request<'a>> {
        let mut texts = message.split(|&byte| byte == 0);
        let directory = texts.next().filter(|text| text.first() == Some(&b'/'))?;
        let mut limits = Limits::DEFAULT;
        for option in texts.next().unwrap_or(b"").split(|&byte| byte == b',') {
            let mut sides = option.splitn(2, |&byte| byte == b'=');
            let (Some(key), Some(value)) = (sides.next(), sides.next().and_then(parse_number))
            else {
                continue;
            };
            if key == OPTION_FILE.as_bytes() {
                limits.file = value;
            } else if key == OPTION_FILES.as_bytes() {
                limits.files = value;
            }
        }
        Some(Request { directory, limits })
    }
}

/// What becomes of the log's descriptor between two writes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Descriptor {
    /// It is kept under a high number, where there are enough.
    Kept,
    /// The log is opened for each write: the program never meets it.
    Closed,
}

/// Which part a copy of this code has in the capsule of its process image.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It began the capsule.
    First,
    /// Another copy began it, in this process or before a `fork`.
    Joins,
}

/// Begins the capsule of this process image, or joins it. `None` if there can be none.
///
/// # Safety
/// `argv` and `envp` are arrays of texts that end with a null.
pub unsafe fn begin(
    request: &Request<'_>,
    descriptor: Descriptor,
    argv: *const *const u8,
    envp: *const *const u8,
) -> Option<Role> {
    if !prepare() {
        return None;
    }
    let mut role = None;
    with(|capture| {
        capture.limits = request.limits;
        capture.log.set_descriptor(descriptor);
        role = capture.open_log(request.directory);
        if role == Some(Role::First) {
            capture.log.keep_program();
            // SAFETY: as promised by the caller.
            unsafe { capture.first_records(argv, envp) };
        }
    });
    ACTIVE.store(role.is_some().into(), Ordering::Relaxed);
    role
}

/// The value, if the entry of the environment is this variable.
///
/// # Safety
/// `entry` ends with a zero.
pub unsafe fn value_of(entry: *const u8, name: &str) -> Option<*const u8> {
    // SAFETY: comparison ends at the first difference, so at the zero at the latest.
    unsafe {
        let same = (0..name.len()).all(|index| entry.add(index).read() == name.as_bytes()[index]);
        (same && entry.add(name.len()).read() == b'=').then(|| entry.add(name.len() + 1))
    }
}

impl Capture {
    /// Makes the log of this process image, or finds it.
    fn open_log(&mut self, directory: &[u8]) -> Option<Role> {
        if !self.directory.push(directory) {
            return None;
        }
        let image = auxiliary::image();
        // A library may be loaded by a child of the process that began the capsule.
        let found = (!auxiliary::is_in_program())
            .then(|| self.log.find_above(self.directory.text(), &image))
            .flatten();
        let opened = match found {
            Some(start) => Some(Opened::Joined(start)),
            None => self.log.create(self.directory.text(), &image),
        };
        match opened? {
            Opened::New => Some(Role::First),
            Opened::Joined(start) => {
                self.watch_stdin(start.stdin);
                Some(Role::Joins)
            }
        }
    }

    /// # Safety
    /// As for [`begin`].
    unsafe fn first_records(&mut self, argv: *const *const u8, envp: *const *const u8) {
        let stdin = self.look_at_stdin();
        let start = Start {
            process: system::process(),
            parent: kernel::parent(),
            mask: kernel::mask(),
            image: auxiliary::image(),
            stdin: stdin.watched,
        };
        self.log.record(RecordKind::Start, &[&start.bytes()]);
        let link = c"/proc/self/exe".as_ptr().cast();
        // SAFETY: the link ends with a zero.
        if (self.path).write(|bytes| unsafe { system::read_link(link, bytes) }) {
            self.log.record(RecordKind::Program, &[self.path.text()]);
        }
        // The kernel counts the zero.
        let here = |bytes: &mut [u8]| system::current_directory(bytes).map(|size| size.max(1) - 1);
        if self.path.write(here) {
            self.log.record(RecordKind::Directory, &[self.path.text()]);
        }
        // SAFETY: as promised by the caller.
        unsafe {
            self.texts(RecordKind::Argument, argv);
            self.texts(RecordKind::Variable, envp);
        }
        self.begin_stdin(stdin);
    }

    /// # Safety
    /// `texts` is an array of texts that ends with a null.
    unsafe fn texts(&mut self, kind: RecordKind, texts: *const *const u8) {
        let mut entry = texts;
        // SAFETY: as promised by the caller.
        unsafe {
            while !entry.is_null() && !(*entry).is_null() {
                let text = system::text(*entry);
                // What steers nearmiss itself is not the program's.
                if kind != RecordKind::Variable || !text.starts_with(b"NEARMISS_") {
                    self.log.record(kind, &[text]);
                }
                entry = entry.add(1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meeting_places_say_where_and_how_much() {
        let request = Request::parse(b"/some/where\0file=10,x,files=20,=3\0").unwrap();
        assert_eq!(request.directory, b"/some/where");
        assert_eq!((request.limits.file, request.limits.files), (10, 20));
        let request = Request::parse(b"/d").unwrap();
        assert_eq!(request.limits.file, Limits::DEFAULT.file);
        assert!(Request::parse(b"").is_none());
        assert!(Request::parse(b"relative\0").is_none());
    }

    #[test]
    fn variables_are_found_by_their_whole_name() {
        let value = |entry: &core::ffi::CStr| {
            // SAFETY: ends with a zero.
            unsafe { value_of(entry.as_ptr().cast(), "NAME").map(|value| system::text(value)) }
        };
        assert_eq!(value(c"NAME=x"), Some(&b"x"[..]));
        assert_eq!(value(c"NAME="), Some(&b""[..]));
        assert_eq!(value(c"NAMES=x"), None);
        assert_eq!(value(c"NA"), None);
    }
}
