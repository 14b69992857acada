//! The environment variables through which the engine steers an instrumented process.

/// The directory to record into. Without it an instrumented program does not record.
/// Each process writes `<directory>/<pid>.trace` (`<pid>.1.trace` and so on if that is there),
/// which is called `.new` until its header is valid.
pub const RECORD: &str = "NEARMISS_RECORD";

/// Options of the recording, `key=value` separated by commas; see the `OPTION_*`.
pub const OPTIONS: &str = "NEARMISS_OPTIONS";

/// A file with the contents of named channels (see [`crate::channel::ChannelKind::Named`]):
/// rows of `u32 name size, u32 index, u32 content size, name, content`, little-endian.
pub const REPLAY: &str = "NEARMISS_REPLAY";

/// A file, made if there is none, from which a program that counts coverage maps its counters, so that
/// forked children share them: those of branches, then the bitmaps of MC/DC. Beside it, with `.profraw`
/// behind its name, the program writes its profile as it was before it ran first.
pub const COVERAGE: &str = "NEARMISS_COVERAGE";

/// A file of ways that cannot lead to the target of a search ([`crate::dead_ends`]): a recorded run ends
/// where it takes one.
pub const DEAD_ENDS: &str = "NEARMISS_DEAD_ENDS";

/// A file of eight bytes in which a sanitizer twin counts how often it makes a block of its heap larger.
pub const BLOCKS: &str = "NEARMISS_BLOCKS";

/// The number of the function whose calls `nearmiss hoist` records.
pub const HOIST: &str = "NEARMISS_HOIST";

/// Most terms to record.
pub const OPTION_TERMS: &str = "terms";
/// Most events to record.
pub const OPTION_EVENTS: &str = "events";
/// Most symbolic bytes of one channel.
pub const OPTION_INPUT: &str = "input";
/// Most bytes of blobs (names, file contents, snapshots).
pub const OPTION_BLOB: &str = "blob";
/// The longest that an input may become; 0: lengths are fixed.
pub const OPTION_LENGTH: &str = "length";
/// How many elements of an object a store through a symbolic address may have to update, and a
/// load choose from; beyond that the address is fixed.
pub const OPTION_ELEMENTS: &str = "elements";
/// How many elements all stores of a run may update in that way.
pub const OPTION_UPDATES: &str = "updates";
/// Allocations of more bytes than this fail when symbolic data decides on their size, and in
/// every run with an invented input: they are never really made.
pub const OPTION_ALLOCATION: &str = "allocation";
/// Bytes of standard input, where the engine knows them and the program cannot (a pipe).
pub const OPTION_STDIN: &str = "stdin";
/// 1: accesses at concrete addresses are checked too, for code with red zones between its variables.
pub const OPTION_STRICT: &str = "strict";
/// Which channels are symbolic: letters `a` arguments, `i` standard input, `f` files,
/// `n` named, `e` environment variables, `p` pipes, `s` sockets
/// ([`crate::channel::ChannelSet`], which has the default).
pub const OPTION_CHANNELS: &str = "channels";

/// Default of [`OPTION_TERMS`].
pub const DEFAULT_TERMS: u64 = 8 << 20;
/// Default of [`OPTION_EVENTS`].
pub const DEFAULT_EVENTS: u64 = 4 << 20;
/// Default of [`OPTION_INPUT`].
pub const DEFAULT_INPUT: u64 = 64 << 10;
/// Default of [`OPTION_BLOB`].
pub const DEFAULT_BLOB: u64 = 256 << 20;
/// Default of [`OPTION_LENGTH`].
pub const DEFAULT_LENGTH: u64 = 16 << 10;
/// Default of [`OPTION_ELEMENTS`].
pub const DEFAULT_ELEMENTS: u64 = 256;
/// Default of [`OPTION_UPDATES`].
pub const DEFAULT_UPDATES: u64 = 4 << 10;
/// Default of [`OPTION_ALLOCATION`].
pub const DEFAULT_ALLOCATION: u64 = 1 << 30;

/// Files below these directories are part of the system, not inputs.
pub const SYSTEM_PATHS: &[&str] = &[
    "/usr/",
    "/lib/",
    "/lib64/",
    "/etc/",
    "/proc/",
    "/sys/",
    "/dev/",
    "/run/",
    "/var/lib/",
];
