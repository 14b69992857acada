//! Other ways on: `<setjmp.h>`, and functions that start other programs or let the kernel move
//! data. Of the latter labels are lost, as in any function without a model; here is noted what
//! cannot be seen from their arguments.

use nearmiss_abi::note::NoteKind;

use super::{model, real};
use crate::capture::executes;
use crate::runtime::Runtime;
use crate::streams::File;
use crate::thread::{ANY_FUNCTION, Thread};
use crate::turn;

/// The models of functions that go back to where `setjmp` was called, which then returns their
/// value.
macro_rules! jump_models {
    ($($name:ident)*) => { $(
        model! {
            fn $name(place: *mut u8, value: i32);
            before |runtime, call| {
                call.fix(runtime, "p");
                Thread::current().set_returned(ANY_FUNCTION, call.label(1));
            }
        }
    )* };
}

jump_models! { longjmp _longjmp siglongjmp __longjmp_chk }

/// Defines such a function: what is noted before, then the real one.
macro_rules! noted {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty: |$runtime:ident| $note:expr $(, $mark:ident)?;)*) => { $(
        #[doc = concat!("Notes, then does `", stringify!($name), "`.")]
        ///
        /// # Safety
        /// As for the real function.
        #[unsafe(export_name = concat!("__nm_model_", stringify!($name)))]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            unsafe extern "C" {
                fn $name($($argument: $type),*) -> $result;
            }
            $($mark();)?
            turn::with((), |$runtime| $note);
            // SAFETY: as promised by the caller.
            unsafe { $name($($argument),*) }
        }
    )* };
}

type Pointer = *mut u8;

/// The kernel is about to read from this descriptor for the program: an input, or what the
/// program wrote symbolic, goes where no model sees it.
pub fn read_by_kernel(runtime: &mut Runtime, fd: i32) {
    if runtime.source(fd).is_some() {
        let site = Thread::current().model_site();
        runtime.trace.note(NoteKind::Outside, site, 1);
    }
}

/// A program is started, of which the caller reads what it prints.
fn started(runtime: &mut Runtime, mode: *const u8) {
    runtime.inputs.forked();
    // SAFETY: what was given as a mode ends with a zero.
    let reads = !mode.is_null() && unsafe { mode.read() } == b'r';
    if reads {
        let site = Thread::current().model_site();
        runtime.trace.note(NoteKind::Outside, site, 1);
    }
}

/// A wide character of standard input is read.
fn read_wide(runtime: &mut Runtime) {
    // SAFETY: libc's variable.
    if runtime.is_input_stream(unsafe { real::stdin } as u64) {
        let site = Thread::current().model_site();
        runtime.trace.note(NoteKind::Call, site, 1);
    }
}

/// How much of an input waits to be read depends on its length.
fn asked_kernel(runtime: &mut Runtime, fd: i32, request: u64) {
    const FIONREAD: u64 = 0x541b;
    if request == FIONREAD {
        read_by_kernel(runtime, fd);
    }
}

/// Notes, then does `shmat`: the same memory may be attached twice.
///
/// # Safety
/// As for the real function.
#[unsafe(export_name = "__nm_model_shmat")]
pub unsafe extern "C" fn shmat(id: i32, at: Pointer, how: i32) -> Pointer {
    unsafe extern "C" {
        fn shmat(id: i32, at: Pointer, how: i32) -> Pointer;
        fn shmctl(id: i32, command: i32, status: *mut u64) -> i32;
    }
    const IPC_STAT: i32 = 2;
    /// Where `struct shmid_ds` has the size, in words of eight bytes.
    const SIZE: usize = 6;
    let mut status = [0u64; 32];
    // SAFETY: as promised by the caller; the status has fewer words.
    unsafe {
        let start = shmat(id, at, how);
        if turn::recording()
            && start as isize != -1
            && shmctl(id, IPC_STAT, status.as_mut_ptr()) == 0
        {
            turn::with((), |runtime| {
                runtime.attached_kept(id, (start as u64, status[SIZE]));
            });
        }
        start
    }
}

noted! {
    fn getwchar() -> u32: |runtime| read_wide(runtime);
    fn getwchar_unlocked() -> u32: |runtime| read_wide(runtime);
    fn ioctl(fd: i32, request: u64, argument: u64) -> i32: |runtime| asked_kernel(runtime, fd, request);
    fn popen(command: *const u8, mode: *const u8) -> *mut File: |runtime| started(runtime, mode), executes;
    fn system(command: *const u8) -> i32: |runtime| runtime.inputs.forked(), executes;
    fn posix_spawn(child: Pointer, path: *const u8, actions: Pointer, attributes: Pointer, arguments: Pointer, environment: Pointer) -> i32: |runtime| runtime.inputs.forked(), executes;
    fn posix_spawnp(child: Pointer, path: *const u8, actions: Pointer, attributes: Pointer, arguments: Pointer, environment: Pointer) -> i32: |runtime| runtime.inputs.forked(), executes;
    fn preadv(fd: i32, vectors: Pointer, count: i32, offset: i64) -> isize: |runtime| read_by_kernel(runtime, fd);
    fn preadv64(fd: i32, vectors: Pointer, count: i32, offset: i64) -> isize: |runtime| read_by_kernel(runtime, fd);
    fn sendfile(to: i32, fd: i32, offset: Pointer, size: usize) -> isize: |runtime| read_by_kernel(runtime, fd);
    fn sendfile64(to: i32, fd: i32, offset: Pointer, size: usize) -> isize: |runtime| read_by_kernel(runtime, fd);
    fn copy_file_range(fd: i32, offset: Pointer, to: i32, to_offset: Pointer, size: usize, flags: u32) -> isize: |runtime| read_by_kernel(runtime, fd);
    fn splice(fd: i32, offset: Pointer, to: i32, to_offset: Pointer, size: usize, flags: u32) -> isize: |runtime| read_by_kernel(runtime, fd);
}
