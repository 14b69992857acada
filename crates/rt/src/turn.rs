//! Who may work on the runtime's state, and whether anybody.
//!
//! Hooks and models of all threads go through [`with`]: not recording, or this thread is
//! inside already (a signal handler interrupted it) → nothing happens; otherwise under one
//! lock. The word that says whether the process records lies on a page that the kernel wipes
//! in a forked child: the child does not write into its parent's trace and never needs the
//! lock, whoever held it. Only the children of a fork server record: see [`crate::server`].
//!
//! On `unsafe`: the state is reached through the lock only, so there is one `&mut` at a time.

use core::cell::UnsafeCell;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use nearmiss_abi::note::NoteKind;
use nearmiss_abi::site::SiteId;

use crate::runtime::Runtime;
use crate::system::{self, advice};
use crate::thread::Thread;

struct Global(UnsafeCell<Runtime>);

// SAFETY: see the module's comment.
unsafe impl Sync for Global {}

static RUNTIME: Global = Global(UnsafeCell::new(Runtime::new()));
static NEVER: AtomicU32 = AtomicU32::new(0);
static ACTIVE: AtomicPtr<AtomicU32> = AtomicPtr::new((&raw const NEVER).cast_mut());
static LOCK: AtomicU32 = AtomicU32::new(0);
/// Hooks that were entered by signal handlers, not yet in the trace.
static SIGNALS: AtomicU32 = AtomicU32::new(0);

const PAGE: usize = 4096;

/// Whether this process records.
#[inline(always)]
pub fn recording() -> bool {
    // SAFETY: the pointer is always to one of two words that live for ever.
    unsafe { (*ACTIVE.load(Ordering::Relaxed)).load(Ordering::Relaxed) != 0 }
}

/// Lets hooks and models in (1) or not (0).
pub fn set_active(value: u32) {
    // SAFETY: as above; `NEVER` is never written, because nothing starts before there is a page.
    let word = unsafe { &*ACTIVE.load(Ordering::Relaxed) };
    if !ptr::eq(word, &NEVER) {
        word.store(value, Ordering::Release);
    }
}

/// From now on this process records. `false` if not even a page could be had.
pub fn activate() -> bool {
    let Ok(page) = system::map_private(PAGE) else {
        return false;
    };
    // A page of zeros; its first word is the flag.
    ACTIVE.store(page.cast(), Ordering::Release);
    set_active(1);
    true
}

/// Children that this process forks from now on do not record.
pub fn forget_in_children() {
    let word = ACTIVE.load(Ordering::Relaxed);
    if !ptr::eq(word, &NEVER) {
        // SAFETY: the page is the runtime's own, and keeps its content in this process.
        unsafe { system::advise(word.cast(), PAGE, advice::WIPEONFORK) };
    }
}

/// Does `work` on the state, or nothing if that cannot be done now.
#[inline(always)]
pub fn with<R>(otherwise: R, work: impl FnOnce(&mut Runtime) -> R) -> R {
    if !recording() {
        return otherwise;
    }
    let thread = Thread::current();
    if !thread.go_inside() {
        SIGNALS.fetch_add(1, Ordering::Relaxed);
        return otherwise;
    }
    let result = if acquire() {
        // SAFETY: the lock is held.
        let runtime = unsafe { &mut *RUNTIME.0.get() };
        if SIGNALS.load(Ordering::Relaxed) != 0 {
            note_signals(runtime);
        }
        let result = work(runtime);
        LOCK.store(0, Ordering::Release);
        result
    } else {
        otherwise
    };
    thread.go_outside();
    result
}

/// Whether there is one thread only, by libc's own account.
#[inline(always)]
pub fn is_alone() -> bool {
    let word: *const u8;
    // SAFETY: takes the address of glibc's variable, null where there is none.
    unsafe {
        core::arch::asm!(
            ".weak __libc_single_threaded",
            "mov {word}, qword ptr [rip + __libc_single_threaded@GOTPCREL]",
            word = out(reg) word,
            options(pure, nomem, nostack, preserves_flags),
        );
        !word.is_null() && word.read_volatile() != 0
    }
}

/// As [`with`], before the process records.
pub fn with_unprepared<R>(work: impl FnOnce(&mut Runtime) -> R) -> Option<R> {
    let thread = Thread::current();
    if !thread.go_inside() {
        return None;
    }
    while LOCK.swap(1, Ordering::Acquire) != 0 {
        system::yield_processor();
    }
    // SAFETY: the lock is held.
    let result = work(unsafe { &mut *RUNTIME.0.get() });
    LOCK.store(0, Ordering::Release);
    thread.go_outside();
    Some(result)
}

/// Takes the lock; `false` if the recording ended meanwhile.
#[inline(always)]
fn acquire() -> bool {
    // An atomic exchange would be a third of a hook's time. A second thread cannot appear
    // while the only one is in here.
    is_alone() || LOCK.swap(1, Ordering::Acquire) == 0 || acquire_slowly()
}

#[cold]
fn acquire_slowly() -> bool {
    const SPINS: u32 = 100;
    // A thread that left the runtime by `longjmp` out of a signal handler never gives the
    // lock back. After this many turns that is what must have happened.
    const PATIENCE: u32 = 1 << 20;
    for turn in 0..PATIENCE {
        if !recording() {
            return false;
        }
        if LOCK.load(Ordering::Relaxed) == 0 && LOCK.swap(1, Ordering::Acquire) == 0 {
            return true;
        }
        if turn < SPINS {
            core::hint::spin_loop();
        } else {
            system::yield_processor();
        }
    }
    set_active(0);
    false
}

#[cold]
fn note_signals(runtime: &mut Runtime) {
    let count = SIGNALS.swap(0, Ordering::Relaxed);
    runtime.trace.note(NoteKind::Signal, SiteId::NONE, count);
}
