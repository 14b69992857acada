//! Capturing: what a process needs to be run again is appended to a small log
//! (`abi::capture` has its format), while the process does not record anything.
//!
//! Models call [`uses`] before the real function touches a path, [`stdin`]'s functions after
//! bytes of standard input came. Everything goes through [`with`]: one lock, never entered
//! twice by a thread, and given up for good if its holder seems to be gone (a thread that did
//! not survive a `fork`): a capsule is worth nothing compared to the program.

mod absolute;
mod begin;
mod kernel;
mod log;
mod meeting;
mod paths;
pub mod stdin;
mod store;

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicU32, Ordering};

use nearmiss_abi::capture::{DEFAULT_FILE, DEFAULT_FILES, RecordKind};
use nearmiss_abi::chance::MOST_BYTES;

use crate::system;
use crate::text::Text;
use crate::thread::Thread;
pub use begin::{Request, begin};
pub use meeting::{Message, find as find_meeting_place};
pub use paths::Use;

/// What is kept of the contents of files.
#[derive(Clone, Copy)]
pub struct Limits {
    /// Most bytes of one file.
    pub file: u64,
    /// Most bytes of all files.
    pub files: u64,
}

impl Limits {
    /// What holds if nobody says otherwise.
    pub const DEFAULT: Limits = Limits {
        file: DEFAULT_FILE,
        files: DEFAULT_FILES,
    };
}

/// Bytes of directory entries or of a file that is being copied.
const SCRATCH: usize = 128 << 10;

/// Everything known about the capsule of this process. All zero at first, so that it is no
/// part of the program's file.
pub struct Capture {
    log: log::Log,
    directory: Text<4096>,
    limits: Limits,
    paths: paths::Table,
    store: store::Store,
    stdin: stdin::Watched,
    /// Bytes kept of what came by chance.
    chance: usize,
    /// The path that is being looked at, absolute.
    path: Text<8192>,
    /// A second path: where a link leads, where content is put.
    other: Text<8192>,
    scratch: [u8; SCRATCH],
}

struct Global(UnsafeCell<Capture>);

// SAFETY: reached through the lock only.
unsafe impl Sync for Global {}

static CAPTURE: Global = Global(UnsafeCell::new(Capture {
    log: log::Log::none(),
    directory: Text::EMPTY,
    limits: Limits { file: 0, files: 0 },
    paths: paths::Table::none(),
    store: store::Store::none(),
    stdin: stdin::Watched::none(),
    chance: 0,
    path: Text::EMPTY,
    other: Text::EMPTY,
    scratch: [0; SCRATCH],
}));
static ACTIVE: AtomicU32 = AtomicU32::new(0);
static LOCK: AtomicU32 = AtomicU32::new(0);

/// Whether this process is captured.
#[inline(always)]
pub fn active() -> bool {
    ACTIVE.load(Ordering::Relaxed) != 0
}

/// Does `work` on the capsule, if there is one and nobody is at it in this thread.
#[cold]
fn with(work: impl FnOnce(&mut Capture)) {
    let thread = Thread::current();
    if !thread.go_inside() {
        return;
    }
    if acquire() {
        // SAFETY: the lock is held.
        let capture = unsafe { &mut *CAPTURE.0.get() };
        work(capture);
        capture.log.flush();
        if capture.log.is_broken() {
            stop();
        }
        LOCK.store(0, Ordering::Release);
    }
    thread.go_outside();
}

fn acquire() -> bool {
    // Copying a file takes its time, and others wait for it.
    const PATIENCE: u32 = 1 << 20;
    for _ in 0..PATIENCE {
        if LOCK.swap(1, Ordering::Acquire) == 0 {
            return true;
        }
        system::yield_processor();
    }
    stop();
    false
}

/// Nothing is captured any more.
fn stop() {
    ACTIVE.store(0, Ordering::Relaxed);
    stdin::forget();
}

/// The program is about to use a path in this way. The path may be anything, also what the
/// kernel will refuse.
#[inline(always)]
pub fn uses(how: Use, directory: i32, path: *const u8) {
    if active() {
        with(|capture| capture.use_path(how, directory, path));
    }
}

/// The program is about to list a directory that it has open.
#[inline(always)]
pub fn uses_open(how: Use, fd: i32) {
    if active() {
        with(|capture| capture.use_descriptor(how, fd));
    }
}

/// The program made a file of a name that was new.
///
/// # Safety
/// `path` ends with a zero.
pub unsafe fn made(path: *const u8) {
    if active() {
        // SAFETY: as promised by the caller.
        with(|capture| unsafe { capture.made_path(path) });
    }
}

/// The process got these bytes by chance, as the next of this stream.
#[inline(always)]
pub fn chance(process: u32, name: &[u8], bytes: &[u8]) {
    if active() {
        with(|capture| capture.keep_chance(process, name, bytes));
    }
}

impl Capture {
    fn keep_chance(&mut self, process: u32, name: &[u8], bytes: &[u8]) {
        // What later runs are not given need not be kept.
        if self.chance + bytes.len() > MOST_BYTES {
            return;
        }
        self.chance += bytes.len();
        let (process, size) = (process.to_le_bytes(), (name.len() as u32).to_le_bytes());
        self.log
            .record(RecordKind::Chance, &[&process, &size, name, bytes]);
    }
}

/// What a clock of the kernel's shows, in nanoseconds.
pub fn clock_now(clock: usize) -> i64 {
    kernel::clock(clock) as i64
}

/// The number of the parent process.
pub fn parent() -> u32 {
    kernel::parent()
}

/// The numbers of the device that a descriptor leads to.
pub fn device_of(fd: i32) -> Option<(u64, u64)> {
    let device = kernel::details(fd).ok()?.is_device();
    Some((device >> 8, device & 255))
}

/// The process ends by itself.
pub fn ended(status: i32) {
    if active() {
        with(|capture| {
            if capture.log.is_of_this_process() {
                let status = status.to_le_bytes();
                capture.log.record(RecordKind::End, &[&status]);
            }
        });
    }
}
