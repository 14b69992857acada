//! A recorded event: 16 bytes, in the order of execution.
//!
//! ```text
//!  0        1        2            4            8                      16
//!  | kind   | flags  | aux u16    | label u32  | site u64             |
//! ```

use crate::site::SiteId;
use crate::term::Label;

macro_rules! events {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal;)*) => {
        /// What happened.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum EventKind { $($(#[$doc])* $name = $code,)* }

        impl EventKind {
            /// The kind with this code, if there is one.
            pub const fn from_code(code: u8) -> Option<EventKind> {
                match code { $($code => Some(EventKind::$name),)* _ => None }
            }

            /// The name used in dumps.
            pub const fn name(self) -> &'static str {
                match self { $(EventKind::$name => $text,)* }
            }
        }
    };
}

events! {
    /// A branch on the one-bit term `label` was decided as its truth says. `aux` is [`frame`] of the
    /// stack pointer, or 0: branches with the same one in one function are of one activation.
    Branch = 1, "branch";
    /// A switch on the term `label`; its value and the site's cases say which way it went. `aux` as
    /// for a branch.
    Switch = 2, "switch";
    /// A check of the one-bit term `label`. The term is true when all is well: its
    /// value is the event's truth, and false means that the check failed in this very run.
    ///
    /// `aux` is the code of the [`crate::check::Kind`] where the site itself is no check but a
    /// memory access or a call; else 0.
    Check = 3, "check";
    /// A check failed on concrete data; `label` is 0.
    CheckFailed = 4, "check-failed";
    /// The term `label` was fixed to its recorded value, because what follows is not modelled
    /// (`aux` is the [`crate::note::NoteKind`]). A constraint of the path.
    Concretized = 5, "concretized";
    /// The harness assumes that the one-bit term `label` is as the event's truth says; an assumption
    /// that is false ends the run.
    ///
    /// With [`NO_LOWER`] in `aux` the runtime says that an address that depends on lengths of inputs
    /// is no lower than it was: execution can go another way there. The other bits of `aux` are the
    /// lowest of the address.
    Assume = 6, "assume";
    /// The one-bit term `label` was true, as it nearly always is. An input that makes it false
    /// leads off the path to where programs are seldom tested (an allocation that fails): not
    /// a failure by itself, but worth a run. `aux` as for a check: what is feared there.
    Probe = 7, "probe";
    /// The harness enters a phase: the low byte of `aux` is its number (`PHASE_*`), the high byte how many
    /// steps towards a target were passed ([`steps_passed`]); `label` is 0.
    Mark = 8, "mark";
    /// A function without instrumentation or model returned, or bytes came that are no input: `aux` is a digest
    /// of that, `label` is 0. No part of the path: it says what differed where a run takes another.
    Answer = 9, "answer";
    /// The one-bit term `label` is false. An input that makes it true takes the other way at the next
    /// decision, and at several more behind it: all of a word is equal, not only its next byte. No constraint
    /// of the path.
    Hint = 10, "hint";
    /// At the next decision a word of the input is compared with a text of another length. The 8-bit term `label` is the
    /// word's first byte; `aux` is the number of a snapshot that holds the word's length ([`WORD_LENGTH_SIZE`] bytes,
    /// little-endian) and the text. No constraint of the path: an input with the text in the word's place is worth a run.
    Word = 11, "word";
}

/// Bytes of the length in the snapshot of an [`EventKind::Word`].
pub const WORD_LENGTH_SIZE: usize = 4;

/// The harness makes the inputs: what is assumed here holds for all of them.
pub const PHASE_SETUP: u16 = 0;
/// The precondition decides.
pub const PHASE_PRECONDITION: u16 = 1;
/// The function under test runs.
pub const PHASE_FUNCTION: u16 = 2;
/// The oracle judges.
pub const PHASE_ORACLE: u16 = 3;
/// The harness looks at what the function left.
pub const PHASE_RESULT: u16 = 4;

/// The phase of a mark.
pub const fn phase(aux: u16) -> u16 {
    aux & 0xff
}

/// How many steps towards a target had been passed at a mark; [`FORBIDDEN_STEP`]: a place that was not to be
/// passed.
pub const fn steps_passed(aux: u16) -> u8 {
    (aux >> 8) as u8
}

/// A place was passed that no path to the target may pass.
pub const FORBIDDEN_STEP: u8 = u8::MAX;

/// The part of a stack pointer that tells activations of a function apart, but for those whose
/// distance is a multiple of a megabyte.
pub const fn frame(stack_pointer: u64) -> u16 {
    (stack_pointer >> 4) as u16
}

/// In `aux` of an [`EventKind::Assume`].
pub const NO_LOWER: u16 = 1 << 15;

/// Bits of an event's flags: which way a branch went, whether a check held.
pub const TRUTH: u8 = 1;
/// Between the event before and this one the program did something on concrete data that could go
/// wrong on other data: see [`crate::shadow::SummaryWords::calm`].
pub const SENSITIVE: u8 = 2;
/// A model decided by how long an input is, or by where one of its lines ends: with another length other events come
/// instead, so of the other way no more is known than that execution comes here. `aux` of such a branch tells what was
/// decided, since one call decides several things.
pub const BY_LENGTH: u8 = 4;

/// In `aux` with [`BY_LENGTH`]: an input is so long that a position is in it.
pub const LENGTH_REACHED: u16 = 0;
/// Whether there is another line.
pub const LENGTH_GOES_ON: u16 = 1;
/// A line fits into its room.
pub const LENGTH_FITS: u16 = 2;
/// No byte of what was read ends a line.
pub const LENGTH_NO_ENDING: u16 = 3;
/// The first byte that ends a line is the last that was read; how many were is added.
pub const LENGTH_ENDING: u16 = 4;

/// An event as it lies in the trace.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Event {
    /// The code of the [`EventKind`].
    pub kind: u8,
    /// [`TRUTH`], [`SENSITIVE`], [`BY_LENGTH`].
    pub flags: u8,
    /// Depends on the kind.
    pub aux: u16,
    /// The term it is about.
    pub label: Label,
    /// Where.
    pub site: u64,
}

/// Bytes of an event.
pub const EVENT_SIZE: usize = 16;
const _: () = assert!(core::mem::size_of::<Event>() == EVENT_SIZE);

impl Event {
    /// An event about `label` at `site`.
    pub const fn new(kind: EventKind, truth: bool, label: Label, site: SiteId) -> Event {
        Event {
            kind: kind as u8,
            flags: if truth { TRUTH } else { 0 },
            aux: 0,
            label,
            site: site.0,
        }
    }

    /// Which way a branch went, whether a check held.
    pub const fn truth(&self) -> bool {
        self.flags & TRUTH != 0
    }

    /// Whether something sensitive came before it.
    pub const fn is_sensitive(&self) -> bool {
        self.flags & SENSITIVE != 0
    }

    /// Whether a model decided it by the length of an input.
    pub const fn is_by_length(&self) -> bool {
        self.flags & BY_LENGTH != 0
    }

    /// This event, after something sensitive or not.
    pub const fn after_sensitive(self, sensitive: bool) -> Event {
        let flags = if sensitive {
            self.flags | SENSITIVE
        } else {
            self.flags & !SENSITIVE
        };
        Event { flags, ..self }
    }
}
