//! The one state of the runtime: what it is made of, and when recording stops.

use core::ptr;

use nearmiss_abi::note::NoteKind;
use nearmiss_abi::shadow::{SUMMARY_MASK, SummaryWords};
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::Label;

use crate::input::Inputs;
use crate::lengths::Assumed;
use crate::options::Options;
use crate::shadow::Shadow;
use crate::streams::Streams;
use crate::system::{self, advice};
use crate::table_read::KnownSnapshots;
use crate::terms::TermTable;
use crate::trace::{Full, Trace};
use crate::turn::{is_alone, set_active};

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
    /// Bytes that were assumed not to be zero.
    pub assumed: Assumed,
    stopped: bool,
    registered: [Registered; MOST_REGISTERED],
}

/// The summary words of a program or library, and the base that they had before.
#[derive(Clone, Copy)]
struct Registered {
    words: *mut SummaryWords,
    first_base: *const u8,
}

impl Registered {
    const FREE: Registered = Registered {
        words: ptr::null_mut(),
        first_base: ptr::null(),
    };
}

impl Runtime {
    /// Nothing is recorded yet.
    pub const fn new() -> Runtime {
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
            assumed: Assumed::none(),
            stopped: false,
            registered: [Registered::FREE; MOST_REGISTERED],
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
        let mut places = self.registered.iter_mut();
        let Some(place) = places.find(|place| place.words.is_null()) else {
            return;
        };
        // SAFETY: `words` is the variable of the library that registers. The new base is good
        // with the old mask, 0, but the mask not with the old base.
        unsafe {
            *place = Registered {
                words,
                first_base: (*words).base,
            };
            (&raw mut (*words).base).write_volatile(self.shadow.summary_base());
            (&raw mut (*words).mask).write_volatile(SUMMARY_MASK);
        }
    }

    /// The library is about to go away.
    pub fn unregister(&mut self, words: *mut SummaryWords) {
        for place in &mut self.registered {
            if place.words == words {
                // SAFETY: the words are still there. Code of the library that runs on in
                // another thread may have read the mask already: then the base must stay.
                unsafe {
                    (&raw mut (*words).mask).write_volatile(0);
                    if is_alone() {
                        (&raw mut (*words).base).write_volatile(place.first_base);
                    }
                }
                *place = Registered::FREE;
            }
        }
    }

    /// The library that this runtime is part of is unloaded. Its address space is given back,
    /// or the library could not record when it is loaded again; but not while anybody might
    /// look at it.
    pub fn dissolve(&mut self) {
        set_active(0);
        self.stopped = true;
        let used = self.registered.iter().any(|place| !place.words.is_null());
        if used || !is_alone() {
            return;
        }
        self.shadow.destroy();
        self.table.destroy();
        self.trace.destroy();
        // SAFETY: nothing is recorded any more.
        unsafe { system::unmap(self.uppers.cast(), self.options.terms as usize * 8) };
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
        for place in &self.registered {
            if !place.words.is_null() {
                // SAFETY: registered words live until they are unregistered.
                unsafe { (&raw mut (*place.words).mask).write_volatile(0) };
            }
        }
    }

    /// Whether recording has stopped in the middle of what is being done.
    pub fn has_stopped(&self) -> bool {
        self.stopped
    }
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
