//! Before `main` and at the end. A program and each of its libraries have a copy of all this; the
//! first to come begins the capsule, the others join it.

use core::ffi::c_void;
use core::sync::atomic::{AtomicU32, Ordering};

use nearmiss_abi::capture::CAPTURE;
use nearmiss_abi::environment;
use nearmiss_rt_base::auxiliary;
use nearmiss_rt_base::capture::{self, Descriptor, Request, Role, stdin, value_of};
use nearmiss_rt_base::{chance, system};

use crate::rows::{When, switch};

type Handler = extern "C" fn();

unsafe extern "C" {
    fn on_exit(handler: extern "C" fn(i32, *mut c_void), argument: *mut c_void) -> i32;
}

/// Behind the constructors of the rows, before any other of the program or library that could read
/// something.
#[used]
#[unsafe(link_section = ".init_array.00001")]
static CONSTRUCTOR: unsafe extern "C" fn(i32, *const *const u8, *const *const u8) =
    __nm_capture_start;

/// Begins capturing, if an ancestor wants it.
///
/// # Safety
/// The arguments are what the C library passes to constructors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __nm_capture_start(
    _: i32,
    argv: *const *const u8,
    envp: *const *const u8,
) {
    if auxiliary::is_privileged() {
        return;
    }
    // SAFETY: as promised by the caller.
    let Some(role) = (unsafe { begin(argv, envp) }) else {
        return;
    };
    if role == Role::First {
        chance::start();
    }
    switch(When::Captured);
    if stdin::is_watched() {
        switch(When::Reading);
    }
    watch_forks();
    if auxiliary::is_in_program() {
        // SAFETY: the function lives as long as the program. The first handlers of a process
        // need no memory from the heap.
        unsafe { on_exit(finish, core::ptr::null_mut()) };
    }
}

/// Begins or joins the capsule, if there is to be one: because the process was told so, or, if it was
/// told nothing at all, because an ancestor wants all its descendants.
///
/// # Safety
/// As for [`__nm_capture_start`].
unsafe fn begin(argv: *const *const u8, envp: *const *const u8) -> Option<Role> {
    let mut message = capture::Message::EMPTY;
    // SAFETY: as promised by the caller; values of the environment end with a zero.
    unsafe {
        let request = if let Some(told) = variable(envp, CAPTURE) {
            Request::parse(system::text(told))
        } else if variable(envp, environment::RECORD).is_none()
            && capture::find_meeting_place(&mut message)
        {
            Request::parse(message.text())
        } else {
            None
        };
        capture::begin(&request?, Descriptor::Closed, argv, envp)
    }
}

/// The value of a variable.
///
/// # Safety
/// `envp` is an array of texts that ends with a null.
unsafe fn variable(envp: *const *const u8, name: &str) -> Option<*const u8> {
    let mut entry = envp;
    // SAFETY: as promised by the caller.
    unsafe {
        while !entry.is_null() && !(*entry).is_null() {
            if let Some(value) = value_of(*entry, name) {
                return Some(value);
            }
            entry = entry.add(1);
        }
    }
    None
}

/// The process exits: glibc passes the status.
extern "C" fn finish(status: i32, _: *mut c_void) {
    capture::ended(status);
}

/// The number of the child that is about to be forked.
static CHILD: AtomicU32 = AtomicU32::new(0);

extern "C" fn before_fork() {
    CHILD.store(chance::before_fork(), Ordering::Relaxed);
}

extern "C" fn in_parent() {}

extern "C" fn in_child() {
    chance::in_child(CHILD.load(Ordering::Relaxed));
}

/// All copies are told about every fork, whoever calls it. A static program without `fork` has no
/// such function.
fn watch_forks() {
    let (register, library): (usize, usize);
    // SAFETY: reads addresses, of which the first is zero where there is no such symbol.
    unsafe {
        core::arch::asm!(
            ".weak __register_atfork",
            ".weak __dso_handle",
            ".hidden __dso_handle",
            "mov {register}, qword ptr [rip + __register_atfork@GOTPCREL]",
            "mov {library}, qword ptr [rip + __dso_handle@GOTPCREL]",
            register = out(reg) register,
            library = out(reg) library,
            options(pure, nomem, nostack, preserves_flags),
        );
        if register != 0 {
            type Register = unsafe extern "C" fn(Handler, Handler, Handler, usize) -> i32;
            let register: Register = core::mem::transmute(register);
            register(before_fork, in_parent, in_child, library);
        }
    }
}
