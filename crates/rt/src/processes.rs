//! System calls about other processes: for a fork server, which starts them, waits for them
//! and shares memory with one that waits for it.

use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};

use crate::models::real;
use crate::system::{Errno, call};
use crate::turn::is_alone;

const POLL: usize = 7;
const CLOSE: usize = 3;
const DUP2: usize = 33;
const NANOSLEEP: usize = 35;
const WAIT4: usize = 61;
const KILL: usize = 62;
const SETPGID: usize = 109;
const PRCTL: usize = 157;
const FUTEX: usize = 202;
const PIDFD_OPEN: usize = 434;

const SIGKILL: usize = 9;

/// Waits until `word`, which is shared with another process, is not `old`; says what it is.
pub fn wait_for_change(word: &AtomicU32, old: u32) -> u32 {
    const FUTEX_WAIT: usize = 0;
    loop {
        let value = word.load(Ordering::Acquire);
        if value != old {
            return value;
        }
        let arguments = [
            ptr::from_ref(word) as usize,
            FUTEX_WAIT,
            old as usize,
            0,
            0,
            0,
        ];
        // SAFETY: the kernel reads the word only.
        let _ = unsafe { call(FUTEX, arguments) };
    }
}

/// Wakes whoever waits for a change of `word`.
pub fn wake(word: &AtomicU32) {
    const FUTEX_WAKE: usize = 1;
    const ALL: usize = i32::MAX as usize;
    let arguments = [ptr::from_ref(word) as usize, FUTEX_WAKE, ALL, 0, 0, 0];
    // SAFETY: the kernel looks at the address only.
    let _ = unsafe { call(FUTEX, arguments) };
}

/// `to` becomes the same as `from`, which is closed.
pub fn move_descriptor(from: i32, to: i32) {
    if from == to {
        return;
    }
    // SAFETY: no memory is involved.
    unsafe {
        let _ = call(DUP2, [from as usize, to as usize, 0, 0, 0, 0]);
        let _ = call(CLOSE, [from as usize, 0, 0, 0, 0, 0]);
    }
}

/// The process ends when the one that started it does.
pub fn end_with_parent() {
    const PR_SET_PDEATHSIG: usize = 1;
    // SAFETY: no memory is involved.
    let _ = unsafe { call(PRCTL, [PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0, 0]) };
}

/// What children leave behind becomes this process's own, to be waited for.
pub fn adopt_orphans() {
    const PR_SET_CHILD_SUBREAPER: usize = 36;
    // SAFETY: no memory is involved.
    let _ = unsafe { call(PRCTL, [PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0, 0]) };
}

/// A child, as soon as there is room for one: in the child it is 0. `None`: there is none for a
/// long time.
///
/// # Safety
/// As for `fork`.
pub unsafe fn fork() -> Option<i32> {
    const TRIES: u32 = 2000;
    let plain = plain_fork().filter(|_| is_alone());
    for _ in 0..TRIES {
        // SAFETY: as promised by the caller.
        let child = unsafe { plain.map_or_else(|| real::fork(), |fork| fork()) };
        if child >= 0 {
            return Some(child);
        }
        reap_orphans();
        pause();
    }
    None
}

/// The `fork` of newer libraries that takes no locks and calls no handlers: where there is but one
/// thread, nobody holds a lock.
fn plain_fork() -> Option<unsafe extern "C" fn() -> i32> {
    let address: usize;
    // SAFETY: takes the address of a function of libc, null where there is none of that name.
    unsafe {
        core::arch::asm!(
            ".weak _Fork",
            "mov {address}, qword ptr [rip + _Fork@GOTPCREL]",
            address = out(reg) address,
            options(pure, nomem, nostack, preserves_flags),
        );
        core::mem::transmute(address)
    }
}

/// Waits a millisecond.
fn pause() {
    let time = [0u64, 1_000_000];
    // SAFETY: the kernel reads the time.
    let _ = unsafe { call(NANOSLEEP, [time.as_ptr() as usize, 0, 0, 0, 0, 0]) };
}

/// Waits for all orphans that have ended.
fn reap_orphans() {
    const ANY: usize = -1isize as usize;
    const WNOHANG: usize = 1;
    // SAFETY: nobody asks how they ended.
    while unsafe { call(WAIT4, [ANY, 0, WNOHANG, 0, 0, 0]) }.is_ok_and(|ended| ended != 0) {}
}

/// The process gets a group of its own, which can be ended with it.
pub fn lead_group() {
    // SAFETY: no memory is involved.
    let _ = unsafe { call(SETPGID, [0; 6]) };
}

/// How a child ended.
#[derive(Clone, Copy)]
pub struct End {
    /// What `waitpid` says.
    pub status: i32,
    /// Whether it was killed for its time.
    pub timed_out: bool,
}

/// Waits for a child that leads a group, at most so many milliseconds and not when nobody wants to know any more; then it
/// is killed. What is left of its group is killed in any case.
pub fn wait_for_child(child: i32, milliseconds: u32, is_wanted: impl Fn() -> bool) -> End {
    let in_time = ends_within(child, milliseconds, is_wanted);
    if !in_time {
        kill(child);
    }
    // Not yet waited for, so nobody else has its number.
    kill(-child);
    let mut status = 0;
    const EINTR: Errno = Errno(4);
    loop {
        let arguments = [child as usize, (&raw mut status) as usize, 0, 0, 0, 0];
        // SAFETY: the kernel writes the status.
        if unsafe { call(WAIT4, arguments) } != Err(EINTR) {
            break;
        }
    }
    reap_orphans();
    End {
        status,
        timed_out: !in_time,
    }
}

/// How long to wait before looking whether the end of a child is still wanted: milliseconds.
pub const PAUSE: usize = 50;

/// Whether a child ends in so many milliseconds, while that is wanted.
fn ends_within(child: i32, milliseconds: u32, is_wanted: impl Fn() -> bool) -> bool {
    #[repr(C)]
    struct Awaited {
        fd: i32,
        events: i16,
        returned: i16,
    }
    const POLLIN: i16 = 1;
    // SAFETY: no memory is involved.
    let Ok(fd) = (unsafe { call(PIDFD_OPEN, [child as usize, 0, 0, 0, 0, 0]) }) else {
        return true;
    };
    let mut awaited = Awaited {
        fd: fd as i32,
        events: POLLIN,
        returned: 0,
    };
    let mut left = milliseconds.clamp(1, i32::MAX as u32) as usize;
    let place = (&raw mut awaited) as usize;
    // A signal that interrupts it is nobody's: then the pause starts anew.
    let ended = loop {
        let pause = left.min(PAUSE);
        // SAFETY: the kernel writes one record.
        match unsafe { call(POLL, [place, 1, pause, 0, 0, 0]) } {
            Ok(0) if left > pause && is_wanted() => left -= pause,
            Ok(ready) => break ready != 0,
            Err(_) => continue,
        }
    };
    // SAFETY: no memory is involved.
    let _ = unsafe { call(CLOSE, [fd, 0, 0, 0, 0, 0]) };
    ended
}

fn kill(process: i32) {
    // SAFETY: no memory is involved.
    let _ = unsafe { call(KILL, [process as isize as usize, SIGKILL, 0, 0, 0, 0]) };
}
