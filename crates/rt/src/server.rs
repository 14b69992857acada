//! Many runs of one process: with `NEARMISS_SERVER` in its environment the program stops before
//! `main` and forks a child for every request. `abi::server` has the words of both sides.
//!
//! It stops in the program's last constructor: libraries and the program's own constructors have
//! done their work, which no child has to do again. Constructors that come later still (of archives
//! behind the runtime) run in each child, as `main` does.
//!
//! What a child knows is its own copy of what the server knew when it stopped, but for the trace,
//! which all share: each puts that back to where it was. A child records, its own children do not.
//!
//! On `unsafe`: the board is mapped once and never given back. The engine writes it only while the
//! program waits, and may write anything: sizes are looked at before they are used.

use core::cell::{Cell, UnsafeCell};
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};

use nearmiss_abi::ABI_VERSION;
use nearmiss_abi::server::{
    BOARD_SIZE, Board, INPUT_OFFSET, INPUT_ROOM, MAGIC, QUIT, RESULT_OFFSET, RESULT_ROOM,
};
use nearmiss_abi::shadow::SummaryWords;

use crate::processes;
use crate::start;
use crate::system::{self, map};
use crate::text::Text;
use crate::trace::Kept;
use crate::turn;

/// The board; null: there is no server.
static BOARD: AtomicPtr<Board> = AtomicPtr::new(ptr::null_mut());
/// The descriptor of what children complain about.
static COMPLAINTS: AtomicU32 = AtomicU32::new(NO_DESCRIPTOR);
const NO_DESCRIPTOR: u32 = u32::MAX;
/// Whether this process, or the next child, runs `main` more than once: see `libc/restart.c`.
static RESTARTS: AtomicBool = AtomicBool::new(false);
/// The status of a process that is of no more use, as `libc/restart.h` has it.
const RETIRED: i32 = 113;
/// Children that made fewer runs than this on average cost more than they save.
const WORTH: u32 = 4;
/// So many children there are before that is looked at.
const TRIALS: u32 = 16;

/// What is put back into the trace before a run.
struct Before(UnsafeCell<Option<Kept>>);

// SAFETY: written by the server before it forks, and only read in its children.
unsafe impl Sync for Before {}

static BEFORE: Before = Before(UnsafeCell::new(None));

/// Maps the board of this name, unless it is another program's: one that a child executes has the
/// same environment.
///
/// # Safety
/// `path` ends with a zero.
pub unsafe fn open(path: *const u8) {
    const O_RDWR_CLOEXEC: i32 = 0o2000002;
    // SAFETY: as promised by the caller.
    let Ok(fd) = (unsafe { system::open(path, O_RDWR_CLOEXEC, 0) }) else {
        return;
    };
    let is_large = system::status(fd).is_ok_and(|status| status.size >= BOARD_SIZE as u64);
    let access = map::PROT_READ | map::PROT_WRITE;
    let mapped = is_large.then(|| system::map(BOARD_SIZE, access, map::SHARED, fd));
    system::close(fd);
    let Some(Ok(start)) = mapped else {
        return;
    };
    let board: *mut Board = start.cast();
    // SAFETY: it is mapped, and large enough.
    unsafe {
        let is_ours = (*board).magic == MAGIC
            && (*board).abi_version == ABI_VERSION
            && word(&raw mut (*board).ready).load(Ordering::Acquire) == 0;
        if !is_ours {
            return system::unmap(start, BOARD_SIZE);
        }
        open_output(path);
    }
    BOARD.store(board, Ordering::Release);
}

/// Whether this process is to serve, or is the child of one that does.
pub fn is_open() -> bool {
    board().is_some()
}

fn board() -> Option<*mut Board> {
    let board = BOARD.load(Ordering::Relaxed);
    (!board.is_null()).then_some(board)
}

/// # Safety
/// `place` is a word of the board.
unsafe fn word<'a>(place: *mut u32) -> &'a AtomicU32 {
    // SAFETY: as promised by the caller; the board is never given back.
    unsafe { AtomicU32::from_ptr(place) }
}

/// Standard output goes nowhere, standard error into a file beside the board.
///
/// # Safety
/// `path` ends with a zero.
unsafe fn open_output(path: *const u8) {
    const O_RDWR: i32 = 2;
    const O_CREAT_APPEND: i32 = 0o2100;
    let mut name: Text<4096> = Text::EMPTY;
    // SAFETY: as promised by the caller; names of `Text` end with a zero.
    unsafe {
        if let Ok(nowhere) = system::open(c"/dev/null".as_ptr().cast(), O_RDWR, 0) {
            processes::move_descriptor(nowhere, 1);
        }
        if name.push(system::text(path))
            && name.push(b".err")
            && let Ok(file) = system::open(name.as_ptr(), O_RDWR | O_CREAT_APPEND, 0o600)
        {
            processes::move_descriptor(file, 2);
            COMPLAINTS.store(2, Ordering::Relaxed);
        }
    }
}

/// Called by the last constructor of each program and library; serves in the program's, and comes
/// back in every child.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_serve(words: *const SummaryWords) {
    if let Some(board) = board()
        && ptr::eq(words, start::own_words())
        && crate::auxiliary::is_in_program()
    {
        // SAFETY: the board is mapped.
        unsafe { serve(board) };
    }
}

/// Answers requests until it is told to end; comes back in every child.
///
/// The child of a run is there before the request is: forking takes longer than many a run, and the
/// engine has other things to do meanwhile.
///
/// # Safety
/// `board` is mapped.
unsafe fn serve(board: *mut Board) {
    processes::end_with_parent();
    processes::adopt_orphans();
    let kept = turn::with(None, |runtime| {
        // Every child would ask for them.
        runtime.know_globals();
        runtime.trace.keep()
    });
    // SAFETY: nothing else uses it yet.
    unsafe { *BEFORE.0.get() = kept };
    // SAFETY: as promised by the caller.
    let (request, answer, ready) = unsafe {
        (
            word(&raw mut (*board).request),
            word(&raw mut (*board).answer),
            word(&raw mut (*board).ready),
        )
    };
    answer.store(0, Ordering::Relaxed);
    ready.store(1, Ordering::Release);
    processes::wake(ready);
    let (mut number, mut children) = (0, 0);
    loop {
        // SAFETY: the board is mapped.
        let first = unsafe { word(&raw mut (*board).restarts).load(Ordering::Relaxed) };
        let restarts = first != 0 && number + 1 >= first;
        // SAFETY: the child goes on as this process would.
        let Some(mut child) = (unsafe { fork_run(board, number, restarts) }) else {
            return;
        };
        number = next_request(request, number);
        if restarts {
            children += 1;
            // SAFETY: the board is mapped.
            let Some(given_up) = (unsafe { look_after(board, child, children) }) else {
                number = answer.load(Ordering::Relaxed);
                continue;
            };
            number = given_up;
            // SAFETY: as above. The request is there already.
            child = match unsafe { fork_run(board, number.wrapping_sub(1), false) } {
                Some(child) => child,
                None => return,
            };
        }
        // SAFETY: as promised by the caller.
        unsafe {
            let is_wanted = || request.load(Ordering::Relaxed) == number;
            let end = processes::wait_for_child(child, (*board).time_limit, is_wanted);
            (*board).status = end.status;
            // One that found the request to end has not run at all.
            let is_over = end.timed_out || request.load(Ordering::Acquire) == QUIT;
            (*board).timed_out = is_over.into();
        }
        answer.store(number, Ordering::Release);
        processes::wake(answer);
    }
}

/// Forks the child for the request behind `number`, which may run `main` more than once; `None` in the child, which
/// has its request then.
///
/// # Safety
/// As for `fork`; `board` is mapped.
unsafe fn fork_run(board: *mut Board, number: u32, restarts: bool) -> Option<i32> {
    RESTARTS.store(restarts, Ordering::Relaxed);
    // SAFETY: as promised by the caller.
    unsafe {
        match processes::fork() {
            Some(0) => {
                become_run(board, number);
                None
            }
            Some(child) => Some(child),
            None => system::exit(1),
        }
    }
}

/// Waits until a child that answers by itself has ended, and answers for it if it ended in the middle of a run; gives the
/// request that is to be run by a fresh child, if there is one.
///
/// # Safety
/// `board` is mapped.
unsafe fn look_after(board: *mut Board, child: i32, children: u32) -> Option<u32> {
    // SAFETY: as promised by the caller.
    let (request, answer) = unsafe {
        (
            word(&raw mut (*board).request),
            word(&raw mut (*board).answer),
        )
    };
    // The request that was seen last, and the pauses that it may still take.
    let watched = Cell::new((0, 0));
    let is_wanted = || {
        let number = request.load(Ordering::Acquire);
        if number == answer.load(Ordering::Acquire) {
            return true;
        }
        let (last, left) = watched.get();
        // SAFETY: as promised by the caller.
        let limit = unsafe { (*board).time_limit } / processes::PAUSE as u32;
        let left = if number == last { left } else { limit + 1 };
        watched.set((number, left.saturating_sub(1)));
        number != QUIT && left > 0
    };
    let end = processes::wait_for_child(child, u32::MAX, is_wanted);
    // The next request may be made at any time, and is none that this child has seen.
    let (number, answered) = (
        request.load(Ordering::Acquire),
        answer.load(Ordering::Acquire),
    );
    // SAFETY: as promised by the caller.
    unsafe {
        if number == QUIT {
            // The run under way is over, if there was one.
            (*board).timed_out = 1;
            answer.store(answered.wrapping_add(1), Ordering::Release);
            processes::wake(answer);
            system::exit(0);
        }
        if children > TRIALS && answered < children.saturating_mul(WORTH) {
            (*board).restarts = 0;
        }
        if number == answered {
            return None;
        }
        let has_begun = word(&raw mut (*board).begun).load(Ordering::Acquire) == number;
        if has_begun && end.status != RETIRED << 8 {
            (*board).status = end.status;
            (*board).timed_out = end.timed_out.into();
            answer.store(number, Ordering::Release);
            processes::wake(answer);
            return None;
        }
        // What nothing has begun is for the next child, unless no such one may.
        let is_for_next = !has_begun && (*board).fresh == 0 && !end.timed_out;
        (!is_for_next).then_some(number)
    }
}

/// Waits for the request behind this one.
fn next_request(request: &AtomicU32, number: u32) -> u32 {
    let next = processes::wait_for_change(request, number);
    if next == QUIT {
        system::exit(0);
    }
    next
}

/// In the child: waits for the request, then lets the program go on.
///
/// # Safety
/// `board` is mapped.
unsafe fn become_run(board: *mut Board, number: u32) {
    processes::end_with_parent();
    processes::lead_group();
    turn::with((), |runtime| {
        runtime.trace.populate();
        runtime.forget_in_children();
        turn::forget_in_children();
    });
    // SAFETY: as promised by the caller.
    unsafe { get_ready(board, number) };
    let fd = COMPLAINTS.load(Ordering::Relaxed);
    if fd != NO_DESCRIPTOR {
        let _ = system::truncate(fd as i32, 0);
    }
}

/// Waits for the request behind `number`, and puts back what lies in shared memory.
///
/// # Safety
/// `board` is mapped.
unsafe fn get_ready(board: *mut Board, number: u32) {
    // SAFETY: as promised by the caller. The answer to the last request is the engine's until it
    // makes this one. What was kept is of this trace.
    unsafe {
        let number = next_request(word(&raw mut (*board).request), number);
        if restarts() && (*board).fresh != 0 {
            system::exit(RETIRED);
        }
        word(&raw mut (*board).begun).store(number, Ordering::Release);
        (*board).result_size = 0;
        (*board).results_lost = 0;
        if let Some(kept) = &*BEFORE.0.get() {
            turn::with((), |runtime| runtime.trace.put_back(kept));
        }
    }
}

fn restarts() -> bool {
    RESTARTS.load(Ordering::Relaxed)
}

/// Whether this process is to run `main` as those do that run it more than once.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_restart_wanted() -> bool {
    is_open()
}

/// Whether this process is to run `main` more than once.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_restart_many() -> bool {
    restarts()
}

/// `main` came back with this status.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_restart_ended(status: i32) {
    start::end_recording(status);
}

/// Answers the request.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_restart_answer(status: i32) {
    let Some(board) = board() else {
        return;
    };
    // SAFETY: the board is mapped, and the engine waits for the answer.
    unsafe {
        (*board).status = (status & 0xff) << 8;
        (*board).timed_out = 0;
        let number = word(&raw mut (*board).request).load(Ordering::Relaxed);
        let answer = word(&raw mut (*board).answer);
        answer.store(number, Ordering::Release);
        processes::wake(answer);
    }
}

/// Waits for the next request, and gets ready for it.
#[unsafe(no_mangle)]
pub extern "C" fn __nm_restart_wait() {
    if let Some(board) = board() {
        // SAFETY: the board is mapped.
        unsafe {
            let number = word(&raw mut (*board).answer).load(Ordering::Relaxed);
            get_ready(board, number);
        }
    }
}

/// Ends the run, and the process unless it makes others: with the status 0, as its trace says already.
pub fn end_run() -> ! {
    if let Some(leave) = leave() {
        // SAFETY: comes back where it cannot be done. What is locked is unlocked by putting memory back.
        unsafe { leave(0) };
    }
    system::exit(0)
}

/// The end of a run in the middle, of `libc/restart.c`.
fn leave() -> Option<unsafe extern "C" fn(i32)> {
    let address: usize;
    // SAFETY: takes the address of a function, null where there is none of that name.
    unsafe {
        core::arch::asm!(
            ".weak __nm_restart_leave",
            "mov {address}, qword ptr [rip + __nm_restart_leave@GOTPCREL]",
            address = out(reg) address,
            options(pure, nomem, nostack, preserves_flags),
        );
        core::mem::transmute(address)
    }
}

/// The contents of named channels, if the engine gives them by the board.
pub fn input_rows() -> Option<&'static [u8]> {
    let board = board()?;
    // SAFETY: the board is mapped, and the engine does not write while a child runs.
    unsafe {
        let size = ((*board).input_size as usize).min(INPUT_ROOM);
        let start = board.cast::<u8>().add(INPUT_OFFSET);
        Some(core::slice::from_raw_parts(start, size))
    }
}

/// Whether an engine asks for runs by a board.
pub fn is_asked() -> bool {
    board().is_some()
}

/// What a harness is to do.
pub fn mode() -> u32 {
    // SAFETY: the board is mapped.
    board().map_or(0, |board| unsafe { (*board).mode })
}

/// Appends a row of results, of the form of input rows; their index is 0.
///
/// # Safety
/// `size` bytes at `memory` are readable.
pub unsafe fn add_result(name: &[u8], memory: *const u8, size: usize) {
    const NUMBERS: usize = 12;
    let Some(board) = board() else {
        return;
    };
    // SAFETY: the board is mapped; the row is written where there is room.
    unsafe {
        let used = word(&raw mut (*board).result_size);
        let start = used.load(Ordering::Relaxed) as usize;
        let end = start
            .saturating_add(NUMBERS + name.len())
            .saturating_add(size);
        if end > RESULT_ROOM {
            (*board).results_lost = (*board).results_lost.saturating_add(1);
            return;
        }
        let row = board.cast::<u8>().add(RESULT_OFFSET + start);
        let numbers = [name.len() as u32, 0, size as u32];
        system::copy_bytes(row, numbers.as_ptr().cast(), NUMBERS);
        system::copy_bytes(row.add(NUMBERS), name.as_ptr(), name.len());
        system::copy_bytes(row.add(NUMBERS + name.len()), memory, size);
        used.store(end as u32, Ordering::Release);
    }
}
