//! Bytes to records: the layout of [`nearmiss_abi::trace`], without any meaning.
//!
//! Counts of the header are promises of the writer; here they are cut down to what the file
//! has, so that any prefix that holds the header page reads as a shorter trace. A shorter
//! prefix cannot be told from any other file and is refused.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use nearmiss_abi::ABI_VERSION;
use nearmiss_abi::channel::{CHANNEL_ROWS, ChannelRow};
use nearmiss_abi::event::{EVENT_SIZE, Event, EventKind};
use nearmiss_abi::note::{NOTE_ROWS, NoteRow};
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::{LABEL_BITS, TERM_SIZE, Term};
use nearmiss_abi::trace::{
    CHANNELS_OFFSET, HEADER_SIZE, Header, MAGIC, NOTES_OFFSET, REGIONS_OFFSET, Snapshot,
};

/// A trace as it lies in its file.
#[derive(Clone, Debug)]
pub struct RawTrace {
    /// The first page.
    pub header: Header,
    /// Used rows of the table of notes.
    pub notes: Vec<NoteRow>,
    /// Used rows of the table of channels; positions are channel numbers.
    pub channels: Vec<ChannelRow>,
    /// The terms; positions are labels, and number 0 is no term.
    pub terms: Vec<Term>,
    /// The events, in the order of execution.
    pub events: Vec<Event>,
    /// What came from outside and is not given again, in the order of execution: no part of the events.
    pub answers: Vec<Answer>,
    /// The copies of memory; positions are snapshot numbers.
    pub snapshots: Vec<Snapshot>,
    /// Names, contents, snapshots.
    pub blob: Vec<u8>,
}

/// A function that is not followed returned, or bytes came that are no input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The call.
    pub site: SiteId,
    /// A digest of what it gave.
    pub digest: u16,
}

/// Why a file is not a readable trace.
#[derive(Debug)]
pub enum ReadError {
    /// The file could not be read.
    Io(io::Error),
    /// Too short, or does not start as a trace does.
    NotATrace,
    /// Written by a runtime with another ABI version.
    Version(u32),
    /// The header says what cannot be.
    Damaged(&'static str),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Io(error) => write!(f, "{error}"),
            ReadError::NotATrace => write!(f, "not a nearmiss trace"),
            ReadError::Version(found) => write!(
                f,
                "recorded with ABI version {found}, this nearmiss has {ABI_VERSION}: rebuild the program"
            ),
            ReadError::Damaged(what) => write!(f, "damaged trace: {what}"),
        }
    }
}

impl std::error::Error for ReadError {}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> ReadError {
        ReadError::Io(error)
    }
}

/// Most bytes of the blob region that are read.
const MAX_BLOB: u64 = 4 << 30;
/// Most events and snapshots that are read.
const MAX_RECORDS: u64 = 1 << LABEL_BITS;
/// Bytes of a snapshot record.
const SNAPSHOT_SIZE: usize = size_of::<Snapshot>();

impl RawTrace {
    /// Reads a file. Only the parts that hold records are read: the file is large but sparse.
    pub fn open(path: &Path) -> Result<RawTrace, ReadError> {
        RawTrace::open_start(path, usize::MAX)
    }

    /// Reads the first events of a file, and no more terms than they need: a run that did not end in its time has
    /// filled its tables.
    pub fn open_start(path: &Path, events: usize) -> Result<RawTrace, ReadError> {
        let file = File::open(path)?;
        read(
            &|offset, size| read_file(&file, offset, size),
            events as u64,
        )
    }

    /// Reads from memory.
    pub fn from_bytes(bytes: &[u8]) -> Result<RawTrace, ReadError> {
        let read_at = |offset: u64, size: u64| {
            let start = bytes
                .len()
                .min(usize::try_from(offset).unwrap_or(usize::MAX));
            let rest = &bytes[start..];
            Ok(rest[..rest.len().min(size as usize)].to_vec())
        };
        read(&read_at, u64::MAX)
    }

    /// Whether two runs recorded the same; which processes they were does not matter.
    pub fn is_same(&self, other: &RawTrace) -> bool {
        let records = |trace: &RawTrace| {
            let Header {
                event_count,
                term_count,
                blob_size,
                ..
            } = trace.header;
            (event_count, term_count, blob_size)
        };
        records(self) == records(other)
            && self.events == other.events
            && self.terms == other.terms
            && self.notes == other.notes
            && self.channels == other.channels
            && self.snapshots == other.snapshots
            && self.blob == other.blob
            && self.answers == other.answers
    }

    /// Bytes of the blob region; `None` if it does not have them.
    pub fn blob(&self, offset: u64, size: u64) -> Option<&[u8]> {
        let start = usize::try_from(offset).ok()?;
        let end = start.checked_add(usize::try_from(size).ok()?)?;
        self.blob.get(start..end)
    }

    /// The path of the recorded program.
    pub fn program(&self) -> &[u8] {
        let Header {
            program_offset,
            program_size,
            ..
        } = self.header;
        self.blob(program_offset, program_size).unwrap_or_default()
    }
}

/// Up to `size` bytes from `offset`; fewer where the file ends.
type ReadAt<'a> = dyn Fn(u64, u64) -> io::Result<Vec<u8>> + 'a;

fn read_file(file: &File, offset: u64, size: u64) -> io::Result<Vec<u8>> {
    let left = file.metadata()?.len().saturating_sub(offset);
    let mut bytes = vec![0; left.min(size) as usize];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

fn read(read_at: &ReadAt, most_events: u64) -> Result<RawTrace, ReadError> {
    let mut header = read_header(&read_at(0, HEADER_SIZE as u64)?)?;
    let region = |offset: u64, count: u64, size: usize| {
        read_at(offset, count.min(MAX_RECORDS) * size as u64)
    };
    let event_count = header.event_count.min(most_events);
    let events = region(header.events_offset, event_count, EVENT_SIZE)?;
    let all = records(&events, EVENT_SIZE, event);
    let (answers, events): (Vec<Event>, Vec<Event>) =
        all.partition(|event| event.kind == EventKind::Answer as u8);
    let is_start = event_count < header.event_count;
    header.event_count -= answers.len() as u64;
    let mut term_count = header.term_count;
    if is_start {
        // What a term is made of comes before it.
        let last = events.iter().map(|event| event.label).max();
        term_count = term_count.min(u64::from(last.unwrap_or_default()) + 1);
    }
    let terms = region(header.terms_offset, term_count, TERM_SIZE)?;
    let snapshots = region(
        header.snapshots_offset,
        header.snapshot_count,
        SNAPSHOT_SIZE,
    )?;
    Ok(RawTrace {
        notes: read_table(read_at, NOTES_OFFSET, NOTE_ROWS, note, |row| row.kind != 0)?,
        channels: read_table(read_at, CHANNELS_OFFSET, CHANNEL_ROWS, channel, |row| {
            row.kind != 0
        })?,
        terms: records(&terms, TERM_SIZE, term).collect(),
        events,
        answers: answers.iter().map(answer).collect(),
        snapshots: records(&snapshots, SNAPSHOT_SIZE, snapshot).collect(),
        blob: read_at(header.blob_offset, header.blob_size.min(MAX_BLOB))?,
        header,
    })
}

/// Rows of a table that are read at once.
const ROWS_AT_ONCE: usize = 64;

/// The rows of a table up to the first that is not used. Tables are large and hold little: no
/// more of one is read than is needed to see that.
fn read_table<T>(
    read_at: &ReadAt,
    offset: usize,
    rows: usize,
    decode: fn(Fields<'_>) -> T,
    is_used: fn(&T) -> bool,
) -> Result<Vec<T>, ReadError> {
    let size = size_of::<T>();
    let mut used = Vec::new();
    for first in (0..rows).step_by(ROWS_AT_ONCE) {
        let count = ROWS_AT_ONCE.min(rows - first);
        let bytes = read_at((offset + first * size) as u64, (count * size) as u64)?;
        let rows = bytes.chunks_exact(size).map(|row| decode(Fields(row)));
        used.extend(rows.take_while(is_used));
        if used.len() < first + count {
            break;
        }
    }
    Ok(used)
}

fn read_header(page: &[u8]) -> Result<Header, ReadError> {
    if page.len() < HEADER_SIZE {
        return Err(ReadError::NotATrace);
    }
    let mut fields = Fields(page);
    let header = Header {
        magic: fields.u64(),
        abi_version: fields.u32(),
        state: fields.u32(),
        pid: fields.u32(),
        exit_status: fields.u32() as i32,
        stopped: fields.u32(),
        reserved: fields.u32(),
        term_count: fields.u64(),
        event_count: fields.u64(),
        blob_size: fields.u64(),
        snapshot_count: fields.u64(),
        terms_offset: fields.u64(),
        events_offset: fields.u64(),
        blob_offset: fields.u64(),
        snapshots_offset: fields.u64(),
        program_offset: fields.u64(),
        program_size: fields.u64(),
        hook_calls: fields.u64(),
    };
    if header.magic != MAGIC {
        return Err(ReadError::NotATrace);
    }
    if header.abi_version != ABI_VERSION {
        return Err(ReadError::Version(header.abi_version));
    }
    let offsets = [
        header.terms_offset,
        header.events_offset,
        header.blob_offset,
        header.snapshots_offset,
    ];
    if offsets
        .iter()
        .any(|offset| *offset < REGIONS_OFFSET as u64 || *offset > 1 << 48)
    {
        return Err(ReadError::Damaged("a region lies outside its place"));
    }
    Ok(header)
}

fn records<'a, T>(
    bytes: &'a [u8],
    size: usize,
    decode: fn(Fields<'a>) -> T,
) -> impl Iterator<Item = T> + 'a
where
    T: 'a,
{
    bytes
        .chunks_exact(size)
        .map(move |record| decode(Fields(record)))
}

fn note(mut fields: Fields) -> NoteRow {
    NoteRow {
        site: fields.u64(),
        count: fields.u32(),
        kind: fields.u8(),
        reserved: [0; 3],
    }
}

fn channel(mut fields: Fields) -> ChannelRow {
    let (kind, piece) = (fields.u8(), fields.u8());
    fields.skip(2);
    ChannelRow {
        kind,
        piece,
        reserved: [0; 2],
        index: fields.u32(),
        name_offset: fields.u64(),
        name_size: fields.u64(),
        content_offset: fields.u64(),
        content_size: fields.u64(),
        start: fields.u64(),
    }
}

fn term(mut fields: Fields) -> Term {
    Term {
        op: fields.u8(),
        width: fields.u8(),
        flags: fields.u16(),
        a: fields.u32(),
        b: fields.u32(),
        c: fields.u32(),
        value: fields.u64(),
    }
}

fn event(mut fields: Fields) -> Event {
    Event {
        kind: fields.u8(),
        flags: fields.u8(),
        aux: fields.u16(),
        label: fields.u32(),
        site: fields.u64(),
    }
}

fn answer(event: &Event) -> Answer {
    Answer {
        site: SiteId(event.site),
        digest: event.aux,
    }
}

fn snapshot(mut fields: Fields) -> Snapshot {
    Snapshot {
        address: fields.u64(),
        blob_offset: fields.u64(),
        size: fields.u64(),
    }
}

/// Takes little-endian numbers off the front of a record, which is known to have them.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const SIZE: usize>(&mut self) -> [u8; SIZE] {
        let (front, rest) = self.0.split_first_chunk().expect("a whole record");
        self.0 = rest;
        *front
    }

    fn skip(&mut self, count: usize) {
        self.0 = &self.0[count..];
    }

    fn u8(&mut self) -> u8 {
        self.take::<1>()[0]
    }

    fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take())
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }
}
