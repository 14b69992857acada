//! A captured process: what it leaves behind so that it can be run again.
//!
//! Capturing is not recording: no labels, no terms, next to no cost. A test suite runs captured;
//! what it ran is then run again, one at a time, in the sandbox, and recorded there.
//!
//! A process finds out by itself that it is to be captured, so that nothing in its environment
//! tells it from one that is not (`env -i` included): the command that wants captures makes a
//! *meeting place*, a small file named after its own process, and an instrumented program looks
//! for one of its ancestors there. Where there is no directory of meeting places, that costs one
//! system call.
//!
//! ```text
//!  /tmp/.nearmiss-UID/PID-START      "DIRECTORY\0OPTIONS\0": PID and START (field 22 of /proc/PID/stat)
//!                                    are those of the ancestor; directory and file belong to UID
//!  DIRECTORY/PID.capsule             what process PID did, records in order (PID.1.capsule and so on
//!                                    if that is there and of another program that the process
//!                                    executed); written by O_APPEND, so any prefix is valid
//!  DIRECTORY/PID.capsule.program     one more name of its program, if there can be one: suites remove what they built
//!  DIRECTORY/files/NAME              contents of files, shared by all capsules
//! ```
//!
//! A program and its libraries each may have code that captures, and any of them may come first.
//! They write into one capsule: that of the process image, which is known by sixteen random bytes
//! that the kernel gives with each `execve` and that forked children keep (`AT_RANDOM`). The
//! first record has them.
//!
//! A record is `u32 kind, u32 size`, then `size` bytes of payload; numbers are little-endian. A
//! record that is cut off ends the capsule. Forked children go on writing into the capsule of
//! their parent (what they open is part of its world), but for [`RecordKind::End`].

/// The first part of the name of the directory of meeting places; the user's number follows.
pub const MEETING_PREFIX: &str = "/tmp/.nearmiss-";

/// The directory that the process is captured into, without a meeting place: set by the engine
/// for the one process that it starts itself.
pub const CAPTURE: &str = "NEARMISS_CAPTURE";

/// Where the contents of files lie, within the directory.
pub const FILES: &str = "files";

/// The name of a record and this: the program that left it, by one more name of its file.
pub const PROGRAM_SUFFIX: &str = ".program";

/// Version of the records: the payload of [`RecordKind::Start`] begins with it.
pub const CAPTURE_VERSION: u32 = 1;

/// Bytes that identify a process image.
pub const IMAGE_SIZE: usize = 16;
/// Bytes of the payload of [`RecordKind::Start`].
pub const START_SIZE: usize = 48;

/// Option of a meeting place: the most bytes of one file that are kept.
pub const OPTION_FILE: &str = "file";
/// Option of a meeting place: the most bytes of all files together that one process keeps.
pub const OPTION_FILES: &str = "files";
/// Default of [`OPTION_FILE`].
pub const DEFAULT_FILE: u64 = 16 << 20;
/// Default of [`OPTION_FILES`].
pub const DEFAULT_FILES: u64 = 64 << 20;

macro_rules! codes {
    ($(#[$enum_doc:meta])* $enum:ident: $($(#[$doc:meta])* $name:ident = $code:literal;)*) => {
        $(#[$enum_doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u32)]
        pub enum $enum { $($(#[$doc])* $name = $code,)* }

        impl $enum {
            /// The one with this code, if there is one.
            pub const fn from_code(code: u32) -> Option<$enum> {
                match code { $($code => Some($enum::$name),)* _ => None }
            }
        }
    };
}

codes! {
    /// What a record says.
    RecordKind:
    /// `u32 CAPTURE_VERSION, u32 pid, u32 parent pid, u32 umask`, [`IMAGE_SIZE`] bytes that identify
    /// the process image, `u64 device, u64 inode` of a standard input whose bytes are captured, or
    /// zeros. Always the first.
    Start = 1;
    /// The file of the program, absolute.
    Program = 2;
    /// The working directory, absolute.
    Directory = 3;
    /// One argument; the program's name first.
    Argument = 4;
    /// One entry of the environment: `NAME=value`.
    Variable = 5;
    /// Standard input: `u32` [`StdinNature`], then for a file the name of its content among the
    /// [`FILES`], from the position that the process started at.
    Stdin = 6;
    /// Bytes that the process read from a standard input that is no file, in order.
    StdinData = 7;
    /// A path as it was before the process first used it: a [`PathRow`], then the path
    /// (absolute), then what the nature says. A later row for the same path adds what the first
    /// did not have (the content of a file that was only asked about before).
    Path = 8;
    /// Something was not kept: `u32` [`Loss`], then the path or nothing.
    Lost = 9;
    /// The process ended by itself: `i32 status`. The last.
    End = 10;
    /// A value that the process got by chance: `u32 process, u32 name size`, the name of its stream,
    /// the bytes. See [`crate::chance`].
    Chance = 11;
}

codes! {
    /// What standard input was.
    StdinNature:
    /// Not open.
    Closed = 1;
    /// `/dev/null`.
    Null = 2;
    /// A regular file.
    File = 3;
    /// A pipe or a named pipe.
    Pipe = 4;
    /// A terminal.
    Terminal = 5;
    /// A socket, a directory, another device.
    Other = 6;
}

codes! {
    /// What was at a path.
    PathNature:
    /// Nothing.
    Absent = 1;
    /// A regular file. What follows the path: the name of its content among the [`FILES`], or
    /// nothing if the process did not need its content.
    File = 2;
    /// A directory. What follows the path: nothing, or its entries if they were listed: for each
    /// `u8` (the `d_type` of `getdents64`), the name, and a zero.
    Directory = 3;
    /// A symbolic link. What follows the path: its target.
    Link = 4;
    /// A named pipe.
    Pipe = 5;
    /// A socket.
    Socket = 6;
    /// A device.
    Device = 7;
}

codes! {
    /// Why something was not kept.
    Loss:
    /// A file is larger than the limit.
    FileTooLarge = 1;
    /// The files of the process are larger than the limit together.
    FilesTooLarge = 2;
    /// The process used more paths than the capsule remembers.
    TooManyPaths = 3;
    /// A file or directory could not be read.
    Unreadable = 4;
    /// The disk is full, or the budget of the suite is used up.
    NoRoom = 5;
    /// A directory has more entries than are listed.
    DirectoryTooLarge = 6;
}

/// Who a path's [`RecordKind::Path`] is about.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathRow {
    /// A [`PathNature`].
    pub nature: u32,
    /// Permissions, as in `st_mode & 07777`.
    pub mode: u32,
    /// `st_dev`.
    pub device: u64,
    /// `st_ino`.
    pub inode: u64,
    /// `st_size`.
    pub size: u64,
    /// Seconds of `st_mtim`.
    pub modified: i64,
    /// Nanoseconds of `st_mtim`.
    pub modified_nanoseconds: u32,
    /// 1 if a directory's entries follow.
    pub listed: u32,
    /// Bytes of the path that follows.
    pub path_size: u32,
    /// Bytes of what follows the path.
    pub rest_size: u32,
}

/// Bytes of a [`PathRow`].
pub const PATH_ROW_SIZE: usize = 56;
const _: () = assert!(core::mem::size_of::<PathRow>() == PATH_ROW_SIZE);
