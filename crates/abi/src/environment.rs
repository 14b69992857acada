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

/// Most terms to record.
pub const OPTION_TERMS: &str = "terms";
/// Most events to record.
pub const OPTION_EVENTS: &str = "events";
/// Most symbolic bytes of one channel.
pub const OPTION_INPUT: &str = "input";
/// Most bytes of blobs (names, file contents, snapshots).
pub const OPTION_BLOB: &str = "blob";
/// Which channels are symbolic: letters `a` arguments, `i` standard input, `f` files,
/// `n` named.
pub const OPTION_CHANNELS: &str = "channels";

/// Default of [`OPTION_TERMS`].
pub const DEFAULT_TERMS: u64 = 8 << 20;
/// Default of [`OPTION_EVENTS`].
pub const DEFAULT_EVENTS: u64 = 4 << 20;
/// Default of [`OPTION_INPUT`].
pub const DEFAULT_INPUT: u64 = 64 << 10;
/// Default of [`OPTION_BLOB`].
pub const DEFAULT_BLOB: u64 = 256 << 20;
/// Default of [`OPTION_CHANNELS`].
pub const DEFAULT_CHANNELS: &str = "aifn";

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
