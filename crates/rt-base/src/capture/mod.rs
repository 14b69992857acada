//! Capturing: what a process needs to be run again is appended to a small log
//! (`abi::capture` has its format), while the process does not record anything.
//!
//! [`uses`] is called before the real function touches a path, [`stdin`]'s functions after
//! bytes of standard input came. Everything goes through [`with`]: one lock, never entered
//! twice by a thread, and given up for good if its holder seems to be gone (a thread that did
//! not survive a `fork`): a capsule is worth nothing compared to the program.
//!
//! Each program and each shared library may have a copy of this code; the copies of one process
//! image write into one log ([`log`]).

mod absolute;
mod begin;
mod join;
mod kernel;
mod log;
mod meeting;
mod paths;
pub mod stdin;
mod store;

use core::arch::asm;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

use nearmiss_abi::capture::{DEFAULT_FILE, DEFAULT_FILES, RecordKind};
use nearmiss_abi::chance::{EXECUTES, MOST_BYTES};

use crate::system;
use crate::text::Text;
pub use begin::{Descriptor, Request, Role, begin, value_of};
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

/// Everything known about the capsule of this process. All zero is a valid value: it is mapped
/// when capturing begins.
pub struct Capture {
    log: log::Log,
    directory: Text<4096>,
    limits: Limits,
    paths: paths::Table,
    store: store::Store,
    stdin: stdin::Watched,
    /// Bytes kept of what came by chance.
    chance: usize,
    /// The status that was written as the end.
    ended: Option<i32>,
    /// The path that is being looked at, absolute.
    path: Text<8192>,
    /// A second path: where a link leads, where content is put.
    other: Text<8192>,
    scratch: [u8; SCRATCH],
}

static CAPTURE: AtomicPtr<Capture> = AtomicPtr::new(ptr::null_mut());
static ACTIVE: AtomicU32 = AtomicU32::new(0);
/// The thread that holds the lock, by its thread pointer; 0: none.
static LOCK: AtomicUsize = AtomicUsize::new(0);

/// Whether this process is captured.
#[inline(always)]
pub fn active() -> bool {
    ACTIVE.load(Ordering::Relaxed) != 0
}

/// Does `work` on the capsule, if there is one and this thread is not at it already.
#[cold]
fn with(work: impl FnOnce(&mut Capture)) {
    if !acquire() {
        return;
    }
    // SAFETY: the lock is held, and what is mapped stays.
    if let Some(capture) = unsafe { CAPTURE.load(Ordering::Relaxed).as_mut() } {
        work(capture);
        capture.log.flush();
        if capture.log.is_broken() {
            stop();
        }
    }
    LOCK.store(0, Ordering::Release);
}

/// Takes the lock. `false` in a signal handler that came in while this thread had it.
fn acquire() -> bool {
    // Copying a file takes its time, and others wait for it.
    const PATIENCE: u32 = 1 << 20;
    let me = thread();
    for _ in 0..PATIENCE {
        match LOCK.compare_exchange(0, me, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => return true,
            Err(owner) if owner == me => return false,
            Err(_) => system::yield_processor(),
        }
    }
    stop();
    false
}

/// The thread pointer: other than a thread-local variable it costs a library no room in the
/// memory that the loader keeps for those.
fn thread() -> usize {
    let pointer: usize;
    // SAFETY: its first word is its own address.
    unsafe {
        asm!("mov {pointer}, qword ptr fs:[0]", pointer = out(reg) pointer, options(pure, readonly, nostack));
    }
    pointer
}

/// Maps the state, if it is not there yet.
fn prepare() -> bool {
    if CAPTURE.load(Ordering::Relaxed).is_null()
        && let Ok(room) = system::map_private(size_of::<Capture>())
    {
        CAPTURE.store(room.cast(), Ordering::Relaxed);
    }
    !CAPTURE.load(Ordering::Relaxed).is_null()
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

/// Another program is about to be executed, which may read any variable.
pub fn executes() {
    chance(0, EXECUTES.as_bytes(), &[1]);
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
            if capture.log.is_of_this_process() && capture.ended != Some(status) {
                capture.ended = Some(status);
                let status = status.to_le_bytes();
                capture.log.record(RecordKind::End, &[&status]);
            }
        });
    }
}
