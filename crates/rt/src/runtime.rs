//! The one state of the runtime: what it is made of, and when recording stops.

use core::ptr;

use nearmiss_abi::note::NoteKind;
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::Label;

use crate::buffers::StreamBuffers;
use crate::dead_ends::DeadEnds;
use crate::events::KnownCheck;
use crate::input::Inputs;
use crate::kept::Kept;
use crate::lengths::Assumed;
use crate::list::List;
use crate::modules::{MOST_MODULES, Registered};
use crate::objects::Objects;
use crate::options::Options;
use crate::shadow::Shadow;
use crate::snapshots::KnownSnapshots;
use crate::streams::Streams;
use crate::system::{self, advice};
use crate::terms::TermTable;
use crate::trace::{Full, Trace};
use crate::turn::{is_alone, set_active};

/// Labels that are known to be fixed already.
pub const FIXED_CACHE: usize = 256;

/// Functions whose calls in tail position are followed.
const MOST_TAILING: usize = 256;

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
    /// What the program writes and may read again.
    pub kept: Kept,
    /// Open streams.
    pub streams: Streams,
    /// Tables that were copied into the trace.
    pub snapshots: KnownSnapshots,
    /// Labels that were fixed, by their lowest bits.
    pub fixed: [Label; FIXED_CACHE],
    /// The last call of a function without instrumentation.
    pub foreign_site: SiteId,
    /// Functions that end in calls that take their place.
    pub tailing: List<u64, MOST_TAILING>,
    /// Whether a call at the boundary of the code under test is under way.
    pub is_in_call: bool,
    /// The access that is about to be made, and the pointer that its address was made of.
    pub approached: (SiteId, u64),
    /// Where blocks of the heap lie, or lay.
    pub heap: (u64, u64),
    /// What is said of a term once: bytes that are not zero, addresses that are no lower, flags that were decided.
    pub assumed: Assumed,
    /// Checks that were recorded, by label and site.
    pub known_checks: [KnownCheck; FIXED_CACHE],
    /// What memory is made of.
    pub objects: Objects,
    /// Elements that loads at symbolic addresses chose from.
    pub chosen_elements: u64,
    /// Elements that stores at symbolic addresses updated.
    pub updated_elements: u64,
    /// The object that the last of these stores was about: start and size.
    pub last_updated: (u64, u64),
    /// Whether a variable of the environment was symbolic. Its list is not looked at: a program that names
    /// `environ` is taken for one that reads all variables, and this one is part of every program.
    pub environment_is_symbolic: bool,
    /// How many answers were recorded.
    pub answers: u32,
    /// How many words were told of: see [`Runtime::words`].
    pub words_told: u32,
    /// Buffers that the program gave to streams.
    pub stream_buffers: StreamBuffers,
    /// Where a run that is after a target ends.
    pub dead_ends: DeadEnds,
    /// Whether a module's variables are not in `objects` yet.
    pub new_globals: bool,
    /// Programs and libraries.
    pub registered: [Registered; MOST_MODULES],
    /// How many places of `registered` were ever used.
    pub used_places: usize,
    stopped: bool,
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
            kept: Kept::none(),
            streams: Streams::none(),
            snapshots: KnownSnapshots::none(),
            fixed: [0; FIXED_CACHE],
            foreign_site: SiteId::NONE,
            tailing: List::new(0),
            is_in_call: false,
            approached: (SiteId::NONE, 0),
            heap: (u64::MAX, 0),
            assumed: Assumed::none(),
            known_checks: [KnownCheck::NONE; FIXED_CACHE],
            objects: Objects::none(),
            chosen_elements: 0,
            updated_elements: 0,
            last_updated: (0, 0),
            environment_is_symbolic: false,
            answers: 0,
            words_told: 0,
            stream_buffers: StreamBuffers::none(),
            dead_ends: DeadEnds::none(),
            new_globals: false,
            registered: [Registered::FREE; MOST_MODULES],
            used_places: 0,
            stopped: false,
        }
    }

    /// Maps everything and makes the trace. `false`: no recording is possible.
    pub fn prepare(&mut self, directory: &[u8], options: Options) -> bool {
        self.options = options;
        let shadow = Shadow::create();
        let table = TermTable::create();
        let objects = Objects::create();
        let uppers = system::map_private(options.terms as usize * 8);
        let (Some(shadow), Some(table), Some(objects), Ok(uppers)) =
            (shadow, table, objects, uppers)
        else {
            Trace::refuse(directory);
            return false;
        };
        let Some(trace) = Trace::create(directory, &options) else {
            return false;
        };
        let (start, size) = trace.mapping();
        // SAFETY: the mapping is new, and stays as it is in this process.
        unsafe { system::advise(start, size, advice::DONTDUMP) };
        self.shadow = shadow;
        self.table = table;
        self.objects = objects;
        self.uppers = uppers.cast();
        self.trace = trace;
        true
    }

    /// Children that this process forks from now on have no labels, and no business with its
    /// trace.
    pub fn forget_in_children(&self) {
        let (start, size) = self.trace.mapping();
        // SAFETY: nothing changes in this process.
        unsafe { system::advise(start, size, advice::DONTFORK) };
        self.shadow.forget_in_children();
    }

    /// The library that this runtime is part of is unloaded. Its address space is given back,
    /// or the library could not record when it is loaded again; but not while anybody might
    /// look at it.
    pub fn dissolve(&mut self) {
        set_active(0);
        self.stopped = true;
        let used = self.registered.iter().any(|place| place.words().is_some());
        if used || !is_alone() {
            return;
        }
        self.shadow.destroy();
        self.table.destroy();
        self.objects.destroy();
        self.trace.destroy();
        // SAFETY: nothing is recorded any more.
        unsafe { system::unmap(self.uppers.cast(), self.options.terms as usize * 8) };
    }

    /// Something cannot be recorded any more: nothing will.
    pub fn stop_full(&mut self, full: Full) {
        self.stop(match full {
            Full::Limit => NoteKind::Limit,
            Full::Disk => NoteKind::Disk,
            Full::Closed => NoteKind::Closed,
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
        for words in self.registered.iter().filter_map(|place| place.words()) {
            // SAFETY: registered words live until they are unregistered.
            unsafe {
                (&raw mut (*words).mask).write_volatile(0);
                (&raw mut (*words).calm).write_volatile(0);
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
            self.runtime.objects.destroy();
            self.runtime.trace.destroy();
        }
    }
}
