//! What was lost: the honest part of a trace.
//!
//! Notes are counted per kind and site in a table of the trace's header region, so that a
//! loss in a loop costs one row.

macro_rules! notes {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $text:literal, $words:literal;)*) => {
        /// Why something symbolic became concrete, or was not recorded.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum NoteKind { $($(#[$doc])* $name = $code,)* }

        impl NoteKind {
            /// Every kind.
            pub const ALL: &'static [NoteKind] = &[$(NoteKind::$name,)*];

            /// The kind with this code, if there is one.
            pub const fn from_code(code: u8) -> Option<NoteKind> {
                match code { $($code => Some(NoteKind::$name),)* _ => None }
            }

            /// The name in JSON and in fixtures.
            pub const fn name(self) -> &'static str {
                match self { $(NoteKind::$name => $text,)* }
            }

            /// What it means, for a person.
            pub const fn words(self) -> &'static str {
                match self { $(NoteKind::$name => $words,)* }
            }
        }
    };
}

notes! {
    /// An address was symbolic and was fixed.
    Address = 1, "address", "a symbolic address was fixed to its recorded value";
    /// Symbolic data was given to a function without instrumentation or model.
    Call = 2, "call", "symbolic data went into a function that is neither instrumented nor modelled";
    /// Symbolic data became a floating-point number.
    Float = 3, "float", "symbolic data became a floating-point number";
    /// Symbolic data went through a vector operation.
    Vector = 4, "vector", "symbolic data went through a vector operation";
    /// Symbolic data went into inline assembly.
    Assembly = 5, "assembly", "symbolic data went into inline assembly";
    /// An operation on symbolic data that has no model.
    Operation = 6, "operation", "an operation on symbolic data has no model";
    /// Memory that held symbolic data was changed behind the instrumentation's back.
    Overwritten = 7, "overwritten", "symbolic memory was overwritten by code without instrumentation";
    /// The limit on terms or events was reached.
    Limit = 8, "limit", "the limit on recorded terms or events was reached; the rest of the run is not recorded";
    /// The disk was full.
    Disk = 9, "disk", "the trace could not grow (disk full?); the rest of the run is not recorded";
    /// A child process was forked; it is not recorded.
    Fork = 10, "fork", "a forked child is not recorded until it executes a program";
    /// A signal handler ran instrumented code while the runtime was at work.
    Signal = 11, "signal", "a signal handler's work on symbolic data was not recorded";
    /// An input byte was read twice with different values.
    InputChanged = 12, "input-changed", "an input changed while it was read";
    /// A size, count or length was symbolic and was fixed.
    Size = 13, "size", "a symbolic size was fixed to its recorded value";
    /// More input than the limit; the rest is concrete.
    InputLimit = 14, "input-limit", "only the first part of a large input is symbolic";
    /// An indirect jump or call through a symbolic address.
    Jump = 15, "jump", "a jump or call through a symbolic address was fixed to its recorded target";
    /// An atomic operation on symbolic data.
    Atomic = 16, "atomic", "an atomic operation on symbolic data";
    /// The name of a file that the program opens is input.
    FileName = 17, "file-name", "the name of an opened file is symbolic; it stays as it was";
    /// An access at a symbolic address, or of symbolic size, to memory of unknown bounds or through
    /// one of more pointers than are looked at.
    Bounds = 18, "bounds", "memory of unknown bounds, or reached by too many pointers, was accessed with a symbolic address or size; that was not checked";
    /// The length of an input was fixed.
    Length = 19, "length", "the length of an input was fixed to its recorded value";
    /// Symbolic data was written to where the program reads, and what it reads is concrete.
    ReadBack = 20, "read-back", "symbolic data was written to where the program can read it again, and is concrete there";
    /// Data came from a child of the program, or was moved by the kernel: it may follow from
    /// inputs, and is concrete.
    Outside = 21, "outside", "data that may follow from an input came from another process or from the kernel, and is concrete";
    /// A library without instrumentation read an input; counted in bytes.
    Library = 22, "library", "a library without instrumentation read bytes of an input; what it makes of them is concrete";
    /// Data came from a file, pipe or terminal that is no input of an exploration.
    NoInput = 23, "no-input", "data was read from a file, pipe or terminal, which is no input here";
    /// The program closed the descriptor of its trace.
    Closed = 24, "closed", "the program closed the descriptor of its recording; the rest of the run is not recorded";
}

/// A row of the table of notes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct NoteRow {
    /// Where it happened first; 0 if unknown.
    pub site: u64,
    /// How often.
    pub count: u32,
    /// The code of the [`NoteKind`]; 0: the row is free.
    pub kind: u8,
    /// Zero.
    pub reserved: [u8; 3],
}

/// Rows of the table; what does not fit is counted in the last row of its kind.
pub const NOTE_ROWS: usize = 1024;
