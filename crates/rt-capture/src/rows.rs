//! The wrapped functions of this program or library: one row for each that it calls.

use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use crate::own;

/// A wrapped function; `libc/capture/row.S` has it too.
#[repr(C)]
pub struct Row {
    /// The function that the program reaches.
    now: AtomicUsize,
    /// The function that captures.
    capturing: usize,
    place: &'static Place,
    next: AtomicPtr<Row>,
    /// The functions of a sanitizer that is linked into the program; 0: there is none.
    interceptors: [usize; 2],
}

/// The rows of this program or library, as a list. (A section of them would have a start and an end
/// with names, which GNU's linker puts among the symbols of a library.)
static FIRST: AtomicPtr<Row> = AtomicPtr::new(ptr::null_mut());

/// Called by the constructor of each row, before all other constructors.
///
/// # Safety
/// The row lives as long as this copy of the archive, and is added once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __nm_capture_add(row: *mut Row) {
    // SAFETY: as promised by the caller; constructors run one after the other.
    unsafe {
        (*row)
            .next
            .store(FIRST.load(Ordering::Relaxed), Ordering::Relaxed)
    };
    FIRST.store(row, Ordering::Relaxed);
}

/// Where a function that captures finds the real one; `libc/capture/capture.h` has it too.
#[repr(C)]
pub struct Place {
    real: AtomicUsize,
    when: When,
    linking: Linking,
}

/// When a function is switched over.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// As soon as the process is captured.
    Captured = 0,
    /// If bytes that come from descriptors are captured.
    Reading = 1,
}

/// A peculiarity of how libc has a function.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Linking {
    /// None.
    Plain = 0,
    /// In static programs it is chosen at start, and called through a table that lies in front of
    /// all code.
    Indirect = 1,
    /// Older C libraries link it into each program.
    Copied = 2,
}

impl Place {
    /// The place of a function.
    pub const fn new(when: When, name: &str) -> Place {
        let linking = match name.as_bytes() {
            b"time" | b"gettimeofday" => Linking::Indirect,
            b"stat" | b"stat64" | b"lstat" | b"lstat64" | b"fstatat" | b"fstatat64" | b"mknod"
            | b"mknodat" => Linking::Copied,
            _ => Linking::Plain,
        };
        Place {
            real: AtomicUsize::new(0),
            when,
            linking,
        }
    }

    /// The address of the real function.
    #[inline(always)]
    pub fn real(&self) -> usize {
        self.real.load(Ordering::Relaxed)
    }

    /// How libc has it.
    pub fn linking(&self) -> Linking {
        self.linking
    }
}

/// Makes functions capture, unless they are the program's own.
pub fn switch(when: When) {
    let mut next = FIRST.load(Ordering::Relaxed);
    // SAFETY: rows of this copy of the archive.
    while let Some(row) = unsafe { next.as_ref() } {
        next = row.next.load(Ordering::Relaxed);
        let real = row.now.load(Ordering::Relaxed);
        let is_due = row.place.when == when && real != row.capturing;
        let is_own = || !row.interceptors.contains(&real) && own::is_the_programs(real, row.place);
        if is_due && !is_own() {
            row.place.real.store(real, Ordering::Relaxed);
            row.now.store(row.capturing, Ordering::Release);
        }
    }
}
