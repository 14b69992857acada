//! The one state of the runtime, who may enter it, and when recording stops.
//!
//! Hooks and models of all threads go through [`with`]: not recording, or this thread is
//! inside already (a signal handler interrupted it) → nothing happens; otherwise under one
//! lock. The word that says whether the process records lies on a page that the kernel wipes
//! in a forked child: the child does not write into its parent's trace and never needs the
//! lock, whoever held it.
//!
//! On `unsafe`: the state is reached through the lock only, so there is one `&mut` at a time.

use core::cell::UnsafeCell;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use nearmiss_abi::note::NoteKind;
use nearmiss_abi::shadow::{SUMMARY_MASK, SummaryWords};
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::Label;

use crate::input::Inputs;
use crate::options::Options;
use crate::shadow::Shadow;
use crate::streams::Streams;
use crate::system::{self, advice};
use crate::table_read::KnownSnapshots;
use crate::terms::TermTable;
use crate::thread::Thread;
use crate::trace::{Full, Trace};

/// Programs and shared libraries that can be registered at a time.
const MOST_REGISTERED: usize = 512;
/// Labels that are known to be fixed already.
pub const FIXED_CACHE: usize = 256;

/// Everything the runtime knows.
pub struct Runtime {
    /// What is recorded.
    pub options: Options,
    /// The labels of memory.
    pub shadow: Shadow,
    /// The trace.
    pub trace: Trace,
    /// Which terms there are.
    pub table: TermTable,
    /// The upper halves of wide terms' values, by label.
    pub uppers: *mut u64,
    /// Channels and descriptors.
    pub inputs: Inputs,
    /// Open streams.
    pub streams: Streams,
    /// Tables that were copied into the trace.
    pub snapshots: KnownSnapshots,
    /// Labels that were fixed, by their lowest bits.
    pub fixed: [Label; FIXED_CACHE],
    stopped: bool,
    registered: [*mut SummaryWords; MOST_REGISTERED],
}

impl Runtime {
    const fn new() -> Runtime {
        Runtime {
            // All zero, so that the state is no part of the program's file.
            options: Options::NONE,
            shadow: Shadow::none(),
            trace: Trace::none(),
            table: TermTable::none(),
            uppers: ptr::null_mut(),
            inputs: Inputs::none(),
            streams: Streams::none(),
            snapshots: KnownSnapshots::none(),
            fixed: [0; FIXED_CACHE],
            stopped: false,
            registered: [ptr::null_mut(); MOST_REGISTERED],
        }
    }

    /// Maps everything and makes the trace. `false`: no recording is possible.
    pub fn prepare(&mut self, directory: &[u8], options: Options) -> bool {
        self.options = options;
        let shadow = Shadow::create();
        let table = TermTable::create();
        let uppers = system::map_private(options.terms as usize * 8);
        let (Some(shadow), Some(table), Ok(uppers)) = (shadow, table, uppers) else {
            Trace::refuse(directory);
            return false;
        };
        let Some(trace) = Trace::create(directory, &options) else {
            return false;
        };
        let (start, size) = trace.mapping();
        // SAFETY: a forked child has no business with the trace of its parent.
        unsafe {
            system::advise(start, size, advice::DONTFORK);
            system::advise(start, size, advice::DONTDUMP);
        }
        self.shadow = shadow;
        self.table = table;
        self.uppers = uppers.cast();
        self.trace = trace;
        true
    }

    /// Instrumented code of this program or library looks at the summary from now on.
    pub fn register(&mut self, words: *mut SummaryWords) {
        let free = self.registered.iter_mut().find(|place| place.is_null());
        let Some(place) = free else {
            return;
        };
        *place = words;
        // SAFETY: `words` is the variable of the library that registers. The base is good
        // with the old mask, 0, but the mask not with the old base.
        unsafe {
            (&raw mut (*words).base).write_volatile(self.shadow.summary_base());
            (&raw mut (*words).mask).write_volatile(SUMMARY_MASK);
        }
    }

    /// The library is about to go away.
    pub fn unregister(&mut self, words: *mut SummaryWords) {
        for place in &mut self.registered {
            if *place == words {
                *place = ptr::null_mut();
            }
        }
    }

    /// Something cannot be recorded any more: nothing will.
    pub fn stop_full(&mut self, full: Full) {
        self.stop(match full {
            Full::Limit => NoteKind::Limit,
            Full::Disk => NoteKind::Disk,
        });
    }

    /// Ends the recording; the program goes on as if it never had been.
    #[cold]
    pub fn stop(&mut self, why: NoteKind) {
        if self.stopped {
            return;
        }
        self.stopped = true;
        self.trace.note(why, SiteId::NONE, 1);
        self.trace.set_stopped();
        set_active(0);
        // Other threads may have read one of the two words already. With the mask 0 every
        // summary byte is the first one, which is made zero; the base stays.
        self.shadow.clear(0, 64);
        for &words in &self.registered {
            if !words.is_null() {
                // SAFETY: registered words live until they are unregistered.
                unsafe { (&raw mut (*words).mask).write_volatile(0) };
            }
        }
    }

    /// Whether recording has stopped in the middle of what is being done.
    pub fn has_stopped(&self) -> bool {
        self.stopped
    }
}

struct Global(UnsafeCell<Runtime>);

// SAFETY: see the module's comment.
unsafe impl Sync for Global {}

static RUNTIME: Global = Global(UnsafeCell::new(Runtime::new()));
static NEVER: AtomicU32 = AtomicU32::new(0);
static ACTIVE: AtomicPtr<AtomicU32> = AtomicPtr::new((&raw const NEVER).cast_mut());
static LOCK: AtomicU32 = AtomicU32::new(0);
/// Hooks that were entered by signal handlers, not yet in the trace.
static SIGNALS: AtomicU32 = AtomicU32::new(0);

/// Whether this process records.
#[inline(always)]
pub fn recording() -> bool {
    // SAFETY: the pointer is always to one of two words that live for ever.
    unsafe { (*ACTIVE.load(Ordering::Relaxed)).load(Ordering::Relaxed) != 0 }
}

fn set_active(value: u32) {
    // SAFETY: as above; `NEVER` is never written, because nothing starts before there is a page.
    let word = unsafe { &*ACTIVE.load(Ordering::Relaxed) };
    if !ptr::eq(word, &NEVER) {
        word.store(value, Ordering::Release);
    }
}

/// From now on this process records. `false` if not even a page could be had.
pub fn activate() -> bool {
    const PAGE: usize = 4096;
    let Ok(page) = system::map_private(PAGE) else {
        return false;
    };
    // SAFETY: a page of zeros; its first word is the flag.
    unsafe { system::advise(page, PAGE, advice::WIPEONFORK) };
    ACTIVE.store(page.cast(), Ordering::Release);
    set_active(1);
    true
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
    LOCK.swap(1, Ordering::Acquire) == 0 || acquire_slowly()
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

#[cfg(test)]
pub mod testing {
    //! A runtime of a test's own.

    use super::*;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    /// There is room for one shadow in an address space.
    static ONE: Mutex<()> = Mutex::new(());

    /// Derefs to a fresh runtime.
    pub struct Scratch {
        runtime: Box<Runtime>,
        _turn: MutexGuard<'static, ()>,
    }

    impl Scratch {
        /// With default options.
        pub fn new() -> Scratch {
            Scratch::with_options(b"")
        }

        /// With these options.
        pub fn with_options(options: &[u8]) -> Scratch {
            let turn = ONE.lock().unwrap_or_else(PoisonError::into_inner);
            let mut runtime = Box::new(Runtime::new());
            let directory = std::env::temp_dir();
            let directory = directory.to_str().unwrap().as_bytes();
            assert!(runtime.prepare(directory, Options::parse(options)));
            runtime.trace.remove_file();
            Scratch {
                runtime,
                _turn: turn,
            }
        }
    }

    impl core::ops::Deref for Scratch {
        type Target = Runtime;
        fn deref(&self) -> &Runtime {
            &self.runtime
        }
    }

    impl core::ops::DerefMut for Scratch {
        fn deref_mut(&mut self) -> &mut Runtime {
            &mut self.runtime
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            self.runtime.shadow.destroy();
            self.runtime.trace.destroy();
        }
    }
}
