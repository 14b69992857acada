//! The start of a capsule: what the process was started with.

use core::sync::atomic::Ordering;

use nearmiss_abi::capture::{CAPTURE_VERSION, OPTION_FILE, OPTION_FILES, PROGRAM, RecordKind};

use super::{ACTIVE, Capture, Limits, kernel, with};
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

/// Begins the capsule of this process. `false` if there can be none.
///
/// # Safety
/// `argv` and `envp` are arrays of texts that end with a null.
pub unsafe fn begin(request: &Request<'_>, argv: *const *const u8, envp: *const *const u8) -> bool {
    let mut begun = false;
    with(|capture| {
        capture.limits = request.limits;
        begun = capture.directory.push(request.directory)
            && capture.log.create(capture.directory.text());
        if begun {
            // SAFETY: as promised by the caller.
            unsafe { capture.first_records(argv, envp) };
        }
    });
    ACTIVE.store(begun.into(), Ordering::Relaxed);
    begun
}

impl Capture {
    /// # Safety
    /// As for [`begin`].
    unsafe fn first_records(&mut self, argv: *const *const u8, envp: *const *const u8) {
        let mask = kernel::mask();
        let numbers = [
            CAPTURE_VERSION.to_le_bytes(),
            system::process().to_le_bytes(),
            kernel::parent().to_le_bytes(),
            mask.to_le_bytes(),
        ];
        self.log
            .record(RecordKind::Start, &[numbers.as_flattened()]);
        let link = c"/proc/self/exe".as_ptr().cast();
        // SAFETY: the link ends with a zero.
        if (self.path).write(|bytes| unsafe { system::read_link(link, bytes) }) {
            self.log.record(RecordKind::Program, &[self.path.text()]);
            // Without a link the program is taken as long as it is there.
            if let Some(name) = self.log.beside(PROGRAM.as_bytes()) {
                // SAFETY: both texts end with a zero.
                let _ = unsafe { system::link(self.path.as_ptr(), name.as_ptr()) };
            }
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
        self.begin_stdin();
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
}
