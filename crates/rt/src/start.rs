//! Before `main` and at the end: each copy of the runtime registers its program or library;
//! the first one to come decides whether the process records.

mod given;

use core::ffi::c_void;
use core::sync::atomic::{AtomicU32, Ordering};

use nearmiss_abi::capture::CAPTURE;
use nearmiss_abi::chance::CHANCE;
use nearmiss_abi::environment;
use nearmiss_abi::forks::FORKS;
use nearmiss_abi::server::SERVER;
use nearmiss_abi::shadow::SummaryWords;

use crate::auxiliary::{is_in_program, is_of_program, is_privileged};
use crate::capture::{self, Descriptor, value_of};
use crate::chance;
use crate::dispatch;
use crate::forks;
use crate::hoist;
use crate::libraries;
use crate::models::real;
use crate::modules::Module;
use crate::options::Options;
use crate::replay;
use crate::server;
use crate::system;
use crate::thread::Thread;
use crate::turn::{self, recording};

static STARTED: AtomicU32 = AtomicU32::new(0);

/// The environment variables that matter here.
struct Environment {
    record: *const u8,
    options: *const u8,
    capture: *const u8,
    server: *const u8,
    forks: *const u8,
    chance: *const u8,
    dead_ends: *const u8,
    hoist: *const u8,
}

/// Called by the constructor of each program and library with what it is made of.
///
/// # Safety
/// The first three are what the C library passes to constructors; `module` is the variable
/// `nearmiss_module` of the caller.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __nm_register(
    argc: i32,
    argv: *const *mut u8,
    envp: *const *const u8,
    module: *const Module,
) {
    if STARTED.swap(1, Ordering::Relaxed) == 0 {
        // SAFETY: as promised by the caller.
        unsafe { start(argc, argv, envp) };
    }
    // SAFETY: as promised by the caller.
    let module = unsafe { *module };
    if recording() || capture::active() {
        dispatch::register(&module);
    }
    turn::with((), |runtime| runtime.register(module));
    // All libraries that the program is linked with have registered before it.
    if recording() && is_of_program(module.header as u64) {
        libraries::watch();
        turn::with((), |runtime| runtime.kept.notice_standard());
    }
}

/// Called by the destructor of each program and library.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_unregister(words: *mut SummaryWords) {
    dispatch::unregister(words);
    turn::with((), |runtime| {
        runtime.unregister(words);
        if core::ptr::eq(words, own_words()) && !is_in_program() {
            // Without `on_exit` this is the last that is heard of the process.
            runtime.trace.set_exited(0);
            runtime.dissolve();
        }
    });
}

/// # Safety
/// As for [`__nm_register`].
unsafe fn start(argc: i32, argv: *const *mut u8, envp: *const *const u8) {
    // SAFETY: as promised by the caller.
    let environment = unsafe { read_environment(envp) };
    // A program with more rights than its caller must not write where the caller says.
    if is_privileged() {
        return;
    }
    system::raise_stack_limit();
    if !environment.chance.is_null() {
        chance::set_streams(environment.chance);
    }
    if !environment.server.is_null() && is_in_program() {
        // SAFETY: values of the environment end with a zero.
        unsafe { server::open(environment.server) };
    }
    if !environment.forks.is_null() && is_in_program() {
        forks::set_asked();
    }
    // SAFETY: as promised by the caller.
    let captures = unsafe { start_capture(&environment, argv, envp) };
    chance::start();
    // SAFETY: as promised by the caller.
    let records = unsafe { start_recording(&environment, argc, argv, envp) };
    if (captures || records) && is_in_program() {
        // SAFETY: the function lives as long as the program. The first handlers of a process
        // need no memory from the heap.
        unsafe { real::on_exit(finish, core::ptr::null_mut()) };
    }
}

/// Whether the process is captured from now on: because it was told to, or, if it was told
/// nothing at all, because an ancestor wants all its descendants.
///
/// # Safety
/// As for [`__nm_register`].
unsafe fn start_capture(
    environment: &Environment,
    argv: *const *mut u8,
    envp: *const *const u8,
) -> bool {
    let mut message = capture::Message::EMPTY;
    let request = if !environment.capture.is_null() {
        // SAFETY: values of the environment end with a zero.
        capture::Request::parse(unsafe { system::text(environment.capture) })
    } else if environment.record.is_null() && capture::find_meeting_place(&mut message) {
        capture::Request::parse(message.text())
    } else {
        None
    };
    // SAFETY: as promised by the caller.
    let begin = |request| unsafe { capture::begin(&request, Descriptor::Kept, argv.cast(), envp) };
    request.and_then(begin).is_some()
}

/// Whether the process records from now on.
///
/// # Safety
/// As for [`__nm_register`].
unsafe fn start_recording(
    environment: &Environment,
    argc: i32,
    argv: *const *mut u8,
    envp: *const *const u8,
) -> bool {
    if environment.record.is_null() {
        return false;
    }
    // SAFETY: values of the environment end with a zero.
    let (directory, options) = unsafe {
        let options = if environment.options.is_null() {
            Options::DEFAULT
        } else {
            Options::parse(system::text(environment.options))
        };
        (system::text(environment.record), options)
    };
    let ready = turn::with_unprepared(|runtime| runtime.prepare(directory, options));
    if ready != Some(true) || !turn::activate() {
        return false;
    }
    if !environment.hoist.is_null() {
        // SAFETY: values of the environment end with a zero.
        hoist::set_wanted(unsafe { system::text(environment.hoist) });
    }
    turn::with((), |runtime| {
        runtime.record_program();
        // SAFETY: as promised by the caller; values of the environment end with a zero.
        unsafe {
            if !environment.dead_ends.is_null() {
                runtime.dead_ends.open(environment.dead_ends);
            }
            if !forks::is_asked() {
                runtime.take_arguments(argc, argv);
            }
            runtime.know_texts(envp);
            runtime.label_environment(envp);
        }
        if forks::is_asked() {
            return;
        }
        runtime.open_stdin();
        if !server::is_open() {
            runtime.forget_in_children();
            turn::forget_in_children();
        }
    });
    true
}

/// # Safety
/// `envp` is an array of texts that ends with a null.
unsafe fn read_environment(envp: *const *const u8) -> Environment {
    let mut found = Environment {
        record: core::ptr::null(),
        options: core::ptr::null(),
        capture: core::ptr::null(),
        server: core::ptr::null(),
        forks: core::ptr::null(),
        chance: core::ptr::null(),
        dead_ends: core::ptr::null(),
        hoist: core::ptr::null(),
    };
    let mut entry = envp;
    // SAFETY: as promised by the caller.
    unsafe {
        while !entry.is_null() && !(*entry).is_null() {
            if let Some(value) = value_of(*entry, environment::RECORD)
                && value.read() != 0
            {
                found.record = value;
            } else if let Some(value) = value_of(*entry, environment::OPTIONS) {
                found.options = value;
            } else if let Some(value) = value_of(*entry, CAPTURE) {
                found.capture = value;
            } else if let Some(value) = value_of(*entry, SERVER) {
                found.server = value;
            } else if let Some(value) = value_of(*entry, FORKS) {
                found.forks = value;
            } else if let Some(value) = value_of(*entry, environment::REPLAY) {
                replay::set_path(value);
            } else if let Some(value) = value_of(*entry, CHANCE) {
                found.chance = value;
            } else if let Some(value) = value_of(*entry, environment::DEAD_ENDS) {
                found.dead_ends = value;
            } else if let Some(value) = value_of(*entry, environment::HOIST) {
                found.hoist = value;
            }
            entry = entry.add(1);
        }
    }
    found
}

/// The process exits: glibc passes the status.
extern "C" fn finish(status: i32, _: *mut c_void) {
    capture::ended(status);
    end_recording(status);
}

/// Records that the program ended with this status.
pub fn end_recording(status: i32) {
    if recording() {
        turn::with((), |runtime| {
            runtime.note_untaken(Thread::current());
            runtime.trace.set_exited(status);
        });
    }
}

/// The summary words of this copy of the runtime.
pub fn own_words() -> *const SummaryWords {
    let words: *const SummaryWords;
    // SAFETY: takes an address.
    unsafe {
        core::arch::asm!(
            "lea {words}, [rip + __nm_summary]",
            words = out(reg) words,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    words
}
