//! Fork servers of whole programs: how process 1 of a sandbox has a program forked for every run.
//!
//! With [`FORKS`] in its environment a program stops where `main` would begin, past all constructors, and
//! waits for orders. `libc/main.c` is the program's side, in the instrumented program as in its twins.
//!
//! ```text
//!  init                                     program                        its sibling, the run
//!                                           says 0: ready
//!   a byte, on CONTROL         ───────►     clone(CLONE_PARENT)
//!                              ◄───────     says the run's number          waits on RUNS
//!   a [`Run`], its texts, and
//!   descriptors, on RUNS       ───────────────────────────────────────►    puts them in place, calls main
//!   waits for its child        ◄───────────────────────────────────────    ends
//! ```
//!
//! The run is a child of init, as a program is that was started for one run: it has the same parent, and
//! is watched, limited and waited for in the same way.

/// The variable that makes a program serve. It is taken out of the environment before `main`.
pub const FORKS: &str = "NEARMISS_FORKS";

/// The descriptor of orders to the program and its answers: numbers of 32 bits.
pub const CONTROL: i32 = 900;
/// The descriptor on which a run waits.
pub const RUNS: i32 = 901;

/// What stands before the texts of a run: its arguments, each with a zero behind it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Bytes of standard input, where the engine knows them and the program cannot; else
    /// [`UNKNOWN`].
    pub stdin_size: u64,
    /// How many arguments there are, with the program's name.
    pub arguments: u64,
}

/// What [`Run::stdin_size`] is for standard input that is no pipe.
pub const UNKNOWN: u64 = u64::MAX;

/// Most bytes of the texts of a run.
pub const MOST_TEXT: usize = 96 << 10;

/// Descriptors that come with a run: standard input, output and error.
pub const DESCRIPTORS: usize = 3;

impl Run {
    /// As the program reads it.
    pub fn to_bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.stdin_size.to_le_bytes());
        bytes[8..].copy_from_slice(&self.arguments.to_le_bytes());
        bytes
    }
}
