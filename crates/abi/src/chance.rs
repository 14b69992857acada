//! What a process gets by chance: clocks, random numbers, the numbers of processes.
//!
//! The first run of a program sees the real values, and they are captured
//! ([`crate::capture::RecordKind::Chance`]). Every later run, of the program or of its twin, is
//! given the same values again, in order, so that a path which depends on them is taken again.
//!
//! Values lie in *streams*: one for each function and process, a plain sequence of bytes. A clock
//! appends its time (`i64` nanoseconds, little-endian), a random source the bytes that it gave, any
//! other function a record of a fixed size. The variable [`CHANCE`] has all streams of a capsule:
//!
//! ```text
//!  NAME:PROCESS=HEX;NAME:PROCESS=HEX;…      time:0=00105e5f…;getrandom:0=8d31…
//! ```
//!
//! PROCESS is 0 for the process itself; a forked child has a number made of its parent's and of how
//! often that forked before ([`child`]). Where a stream has no more values the run goes on from the
//! last: a clock gains [`STEP`] with each call, random bytes come from a generator with a fixed seed.

/// The environment variable with the streams.
pub const CHANCE: &str = "NEARMISS_CHANCE";

/// Most bytes of all streams together that are given again: as hexadecimal digits they must fit
/// into one variable, for which the kernel has 128 KiB.
pub const MOST_BYTES: usize = 60_000;

/// Nanoseconds that a clock gains with each call beyond those that were captured.
pub const STEP: i64 = 1_000_000;

/// The stream with the time of day when the process started: where its clock goes on from if it was
/// never asked.
pub const STARTED_REALTIME: &str = "started-realtime";
/// The same of the clock that counts from the machine's start.
pub const STARTED_MONOTONIC: &str = "started-monotonic";
/// The number of the parent process.
pub const PARENT: &str = "getppid";
/// The sixteen bytes that the kernel gives each program.
pub const AUXILIARY: &str = "AT_RANDOM";
/// What was read from `/dev/urandom` and `/dev/random`.
pub const DEVICE: &str = "random-device";

/// There if the process, or a child of it, executed another program.
pub const EXECUTES: &str = "executes";

/// The number of a process's child, made by its fork number `fork`.
pub const fn child(parent: u32, fork: u32) -> u32 {
    parent.wrapping_mul(64).wrapping_add(fork).wrapping_add(1)
}
