//! A recorded event: 16 bytes, in the order of execution.
//!
//! ```text
//!  0        1        2            4            8                      16
//!  | kind   | truth  | aux u16    | label u32  | site u64             |
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
    /// A branch on the one-bit term `label` was decided as `truth` says.
    Branch = 1, "branch";
    /// A switch on the term `label`; its value and the site's cases say which way it went.
    Switch = 2, "switch";
    /// A check of the one-bit term `label`. The term is true when all is well: `truth` is its
    /// value, and 0 means that the check failed in this very run.
    ///
    /// `aux` is the code of the [`crate::check::Kind`] where the site itself is no check but a
    /// memory access or a call; else 0.
    Check = 3, "check";
    /// A check failed on concrete data; `label` is 0.
    CheckFailed = 4, "check-failed";
    /// The term `label` was fixed to its recorded value, because what follows is not modelled
    /// (`aux` is the [`crate::note::NoteKind`]). A constraint of the path.
    Fixed = 5, "fixed";
    /// The harness assumes that the one-bit term `label` is as `truth` says; an assumption
    /// that is false ends the run.
    Assume = 6, "assume";
    /// The one-bit term `label` was true, as it nearly always is. An input that makes it false
    /// leads off the path to where programs are seldom tested (an allocation that fails): not
    /// a failure by itself, but worth a run. `aux` as for a check: what is feared there.
    Probe = 7, "probe";
}

/// An event as it lies in the trace.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Event {
    /// The code of the [`EventKind`].
    pub kind: u8,
    /// 1 or 0: which way a branch went, whether a check held.
    pub truth: u8,
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
            truth: truth as u8,
            aux: 0,
            label,
            site: site.0,
        }
    }
}
