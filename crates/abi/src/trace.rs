//! The trace file: what one recorded process leaves behind.
//!
//! Goals: it is written through a shared mapping, so that whatever was written is there after
//! `SIGKILL` at any instruction; a reader needs no repair step; nothing is ever moved.
//!
//! ```text
//!  offset 0        one page: [`Header`]
//!  NOTES_OFFSET    NOTE_ROWS    × NoteRow
//!  CHANNELS_OFFSET CHANNEL_ROWS × ChannelRow
//!  snapshots_offset, blob_offset, events_offset, terms_offset   (in the header) growing regions
//! ```
//!
//! The file is sparse: each growing region has room for its limit, and the runtime reserves
//! disk space chunk by chunk before it writes there, so a full disk is an answer, not a
//! `SIGBUS`. A record is written first and counted afterwards (`*_count`, `blob_size`, stored
//! with release order), so any count that a reader sees covers whole records only. Terms are
//! numbered from 1; record 0 of the terms region stays zero. All numbers are little-endian.
//!
//! What a crash leaves behind: a valid, shorter path, with [`Header::state`] still
//! [`STATE_RUNNING`].

/// "NMTRACE1", little-endian.
pub const MAGIC: u64 = u64::from_le_bytes(*b"NMTRACE1");

/// The process has not ended, or was killed.
pub const STATE_RUNNING: u32 = 1;
/// The process ended by `exit` or by returning from `main`; `exit_status` is valid.
pub const STATE_EXITED: u32 = 2;
/// The process replaced itself by `execve` or one of its relatives that take an array (those
/// that take a list are not modelled: such a trace is left as running).
pub const STATE_EXECUTED: u32 = 3;

/// The first page of a trace.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// [`MAGIC`].
    pub magic: u64,
    /// [`crate::ABI_VERSION`].
    pub abi_version: u32,
    /// One of the `STATE_*`.
    pub state: u32,
    /// The recorded process.
    pub pid: u32,
    /// Its exit status, if it exited.
    pub exit_status: i32,
    /// 1 after the recording stopped early (a note says why).
    pub stopped: u32,
    /// Zero.
    pub reserved: u32,
    /// Terms recorded, with the unused record 0.
    pub term_count: u64,
    /// Events recorded.
    pub event_count: u64,
    /// Bytes used of the blob region.
    pub blob_size: u64,
    /// Snapshots recorded.
    pub snapshot_count: u64,
    /// Where the terms start.
    pub terms_offset: u64,
    /// Where the events start.
    pub events_offset: u64,
    /// Where the blob region starts.
    pub blob_offset: u64,
    /// Where the snapshots start.
    pub snapshots_offset: u64,
    /// Where the program's path lies in the blob region.
    pub program_offset: u64,
    /// Bytes of the program's path.
    pub program_size: u64,
    /// Calls of hooks while recording, for statistics.
    pub hook_calls: u64,
}

/// A copy of memory that [`crate::op::Op::Read`] terms read from.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Snapshot {
    /// Where it lay in the program.
    pub address: u64,
    /// Where its bytes lie in the blob region.
    pub blob_offset: u64,
    /// Bytes.
    pub size: u64,
}

/// Bytes of the header page.
pub const HEADER_SIZE: usize = 4096;
/// Where the table of notes starts.
pub const NOTES_OFFSET: usize = HEADER_SIZE;
/// Where the table of channels starts.
pub const CHANNELS_OFFSET: usize =
    NOTES_OFFSET + crate::note::NOTE_ROWS * core::mem::size_of::<crate::note::NoteRow>();
/// Where the growing regions start.
pub const REGIONS_OFFSET: usize = CHANNELS_OFFSET
    + crate::channel::CHANNEL_ROWS * core::mem::size_of::<crate::channel::ChannelRow>();

const _: () = assert!(core::mem::size_of::<Header>() <= HEADER_SIZE);
const _: () = assert!(REGIONS_OFFSET.is_multiple_of(4096));
