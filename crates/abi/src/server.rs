//! The board: how an engine and a program that is started once agree on many runs.
//!
//! With [`SERVER`] in its environment a program stops before `main`, maps the board and waits.
//! For every request a child, forked in advance, goes on into `main`; the program says how the
//! child ended.
//! The same words are spoken by the runtime of instrumented programs and by `libc/server.c`, for
//! the sanitizer twin and for programs that count coverage.
//!
//! ```text
//!  engine                                       program                its child
//!                                               forks                  waits for `request`
//!    writes mode, time_limit, input rows
//!    request += 1, wakes `request`   ───────►   waits for the child    puts the trace back,
//!                                                                      reads input rows, runs,
//!    waits for `answer` == `request` ◄───────   status,                writes result rows
//!                                               answer = request,
//!                                               wakes `answer`
//! ```
//!
//! Where the engine allows it ([`Board::restarts`]), a child whose run ended as usual puts its memory back
//! (`libc/restart.c`), writes `status` and `answer` itself and waits for the next request. The program then only
//! looks after it: it answers for a child that ended in the middle of a run, and has a run made by a fresh
//! one that its child gave up, or never began ([`Board::begun`]).
//!
//! Waiting and waking are futexes on words of the board, which is a file that both map shared.
//! What a child writes to standard error goes to the board's file name with `.err` behind it,
//! emptied before each run. A program that finds `ready` set does not serve: it was executed by a
//! child of one that does.

/// The variable that names the board's file.
pub const SERVER: &str = "NEARMISS_SERVER";

/// "NMBOARD1", little-endian.
pub const MAGIC: u64 = u64::from_le_bytes(*b"NMBOARD1");

/// The value of [`Board::request`] that ends the program.
pub const QUIT: u32 = u32::MAX;

/// What a harness does with its inputs: [`Board::mode`].
pub const MODE_FUNCTION: u32 = 0;
/// The precondition alone.
pub const MODE_PRECONDITION: u32 = 1;
/// The precondition, which is assumed, then the function.
pub const MODE_BOTH: u32 = 2;

/// The first page of the board. All numbers are little-endian.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Board {
    /// [`MAGIC`], written by the engine.
    pub magic: u64,
    /// [`crate::ABI_VERSION`], written by the engine.
    pub abi_version: u32,
    /// Counts requests, from 1; [`QUIT`] ends the program.
    pub request: u32,
    /// The request that was answered last. The program writes 0 here when it has mapped the board,
    /// and [`Board::ready`] 1.
    pub answer: u32,
    /// 1 as soon as the program waits for requests.
    pub ready: u32,
    /// One of the `MODE_*`.
    pub mode: u32,
    /// Milliseconds after which a child is killed.
    pub time_limit: u32,
    /// What `waitpid` said of the child.
    pub status: i32,
    /// 1: the child was killed because its time was over.
    pub timed_out: u32,
    /// Bytes of the input rows, at [`INPUT_OFFSET`]: see [`crate::environment::REPLAY`].
    pub input_size: u32,
    /// Bytes of the result rows, at [`RESULT_OFFSET`], of the same form: what the child handed to
    /// `nearmiss_result`.
    pub result_size: u32,
    /// Results that found no room.
    pub results_lost: u32,
    /// From this request on a child may run `main` again and again, with its memory put back in between; 0: none may.
    /// Written by the engine before the program starts, and set to 0 by the program where that is of no use.
    pub restarts: u32,
    /// 1: this run is to be made by a child that made none before.
    pub fresh: u32,
    /// The request whose run a child that makes many has begun.
    pub begun: u32,
}

/// Where the input rows start.
pub const INPUT_OFFSET: usize = 4096;
/// Room for input rows.
pub const INPUT_ROOM: usize = 1 << 20;
/// Where the result rows start.
pub const RESULT_OFFSET: usize = INPUT_OFFSET + INPUT_ROOM;
/// Room for result rows.
pub const RESULT_ROOM: usize = 1 << 20;
/// Bytes of the board's file.
pub const BOARD_SIZE: usize = RESULT_OFFSET + RESULT_ROOM;
