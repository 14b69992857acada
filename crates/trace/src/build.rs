//! Traces made by hand, for tests.
//!
//! Works out the value of each term as the runtime would, so that a test says only what the
//! program did.

use nearmiss_abi::ABI_VERSION;
use nearmiss_abi::channel::{ChannelKind, ChannelRow};
use nearmiss_abi::check::Kind;
use nearmiss_abi::event::{Event, EventKind};
use nearmiss_abi::note::{NoteKind, NoteRow};
use nearmiss_abi::op::{self, Op};
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::{Label, Term};
use nearmiss_abi::trace::{
    CHANNELS_OFFSET, MAGIC, NOTES_OFFSET, REGIONS_OFFSET, STATE_EXITED, Snapshot,
};

/// A trace in the making.
#[derive(Clone, Debug, Default)]
pub struct TraceBuilder {
    terms: Vec<Term>,
    events: Vec<Event>,
    notes: Vec<NoteRow>,
    channels: Vec<(ChannelRow, Vec<u8>)>,
    snapshots: Vec<Snapshot>,
    blob: Vec<u8>,
    program: Vec<u8>,
}

impl TraceBuilder {
    /// An empty trace of this program.
    pub fn new(program: &str) -> TraceBuilder {
        TraceBuilder {
            program: program.as_bytes().to_vec(),
            terms: vec![Term::default()],
            ..TraceBuilder::default()
        }
    }

    fn blob(&mut self, bytes: &[u8]) -> u64 {
        self.blob.extend(bytes);
        (self.blob.len() - bytes.len()) as u64
    }

    /// Adds a channel and gives its number. The content of standard input is not written, as
    /// in real traces.
    pub fn channel(&mut self, kind: ChannelKind, index: u32, name: &str, content: &[u8]) -> u32 {
        let mut row = ChannelRow {
            kind: kind as u8,
            index,
            name_offset: self.blob(name.as_bytes()),
            name_size: name.len() as u64,
            ..ChannelRow::default()
        };
        if kind != ChannelKind::Stdin {
            row.content_offset = self.blob(content);
            row.content_size = content.len() as u64;
        }
        self.channels.push((row, content.to_vec()));
        self.channels.len() as u32 - 1
    }

    /// Adds the length of a piece of a channel; gives the label of the length, 32 bits wide.
    pub fn length(&mut self, channel: u32, piece: u8, start: u64, length: u32) -> Label {
        let number = self.channel(ChannelKind::Length, channel, "", &length.to_le_bytes());
        let (row, _) = &mut self.channels[number as usize];
        (row.piece, row.start) = (piece, start);
        let low = self.input(number, 0);
        (1..4).fold(low, |low, offset| {
            let high = self.input(number, offset);
            let value = self.value(high) << self.width(low) | self.value(low);
            let width = self.width(low) + 8;
            self.valued(Op::Concat, width, [high, low, 0], value)
        })
    }

    /// Adds a copy of memory and gives its number.
    pub fn snapshot(&mut self, bytes: &[u8]) -> u32 {
        let snapshot = Snapshot {
            address: 0x1000,
            blob_offset: self.blob(bytes),
            size: bytes.len() as u64,
        };
        self.snapshots.push(snapshot);
        self.snapshots.len() as u32 - 1
    }

    /// Adds a term as it stands.
    pub fn term(&mut self, term: Term) -> Label {
        self.terms.push(term);
        self.terms.len() as Label - 1
    }

    fn valued(&mut self, op: Op, width: u32, fields: [u32; 3], value: u128) -> Label {
        let mut term = Term::new(op, width, fields[0], fields[1], fields[2]);
        term.value = value as u64;
        self.term(term)
    }

    /// The value of a term.
    pub fn value(&self, label: Label) -> u128 {
        self.terms[label as usize].value as u128
    }

    fn width(&self, label: Label) -> u32 {
        self.terms[label as usize].width as u32
    }

    /// An input byte.
    pub fn input(&mut self, channel: u32, offset: u32) -> Label {
        let content = &self.channels[channel as usize].1;
        // Behind the end of a channel there is what would come if it were longer.
        let value = content.get(offset as usize).copied().unwrap_or(b'A');
        self.valued(Op::Input, 8, [channel, offset, 0], value as u128)
    }

    /// A constant.
    pub fn constant(&mut self, width: u32, value: u128) -> Label {
        self.term(Term::constant(width, value))
    }

    /// A binary operation, or with `b` 0 a unary one.
    pub fn operation(&mut self, op: Op, a: Label, b: Label) -> Label {
        let operand_width = self.width(a);
        let value = op::evaluate(op, operand_width, self.value(a), self.value(b));
        let width = match op.result_width() {
            op::ResultWidth::Bit => 1,
            _ => operand_width,
        };
        self.valued(op, width, [a, b, 0], value.expect("an operation"))
    }

    /// Zero extension.
    pub fn zext(&mut self, a: Label, width: u32) -> Label {
        self.valued(Op::ZExt, width, [a, 0, 0], self.value(a))
    }

    /// `condition ? a : b`.
    pub fn ite(&mut self, condition: Label, a: Label, b: Label) -> Label {
        let chosen = if self.value(condition) == 1 { a } else { b };
        let fields = [condition, a, b];
        self.valued(Op::Ite, self.width(a), fields, self.value(chosen))
    }

    /// A read of one byte of a snapshot, which is known to be `value`.
    pub fn read(&mut self, index: Label, snapshot: u32, value: u8) -> Label {
        self.valued(Op::Read, 8, [index, snapshot, 0], value as u128)
    }

    /// Adds an event about a term, with the truth that the term's value gives.
    pub fn event(&mut self, kind: EventKind, label: Label, site: SiteId) {
        let truth = label != 0 && self.value(label) == 1;
        self.events.push(Event::new(kind, truth, label, site));
    }

    /// Adds an event about a failure of a kind, with the truth that the term's value gives.
    pub fn kind_event(&mut self, kind: EventKind, failure: Kind, label: Label, site: SiteId) {
        self.event(kind, label, site);
        if let Some(event) = self.events.last_mut() {
            event.aux = failure as u16;
        }
    }

    /// The event added last came after something sensitive.
    pub fn after_sensitive(&mut self) {
        if let Some(event) = self.events.last_mut() {
            *event = event.after_sensitive(true);
        }
    }

    /// Adds an event as it stands.
    pub fn raw_event(&mut self, event: Event) {
        self.events.push(event);
    }

    /// Adds a note.
    pub fn note(&mut self, kind: NoteKind, site: SiteId, count: u32) {
        self.notes.push(NoteRow {
            site: site.0,
            count,
            kind: kind as u8,
            reserved: [0; 3],
        });
    }

    /// The bytes of the trace of a process that exited with status 0.
    pub fn finish(mut self) -> Vec<u8> {
        let program = std::mem::take(&mut self.program);
        let program_offset = self.blob(&program);
        let snapshots_offset = REGIONS_OFFSET as u64;
        let blob_offset = snapshots_offset + 24 * self.snapshots.len() as u64;
        let events_offset = (blob_offset + self.blob.len() as u64).next_multiple_of(16);
        let terms_offset = events_offset + 16 * self.events.len() as u64;
        let mut file = Writer::default();
        file.u64s(&[MAGIC]);
        file.u32s(&[ABI_VERSION, STATE_EXITED, 4711, 0, 0, 0]);
        file.u64s(&[self.terms.len() as u64, self.events.len() as u64]);
        file.u64s(&[self.blob.len() as u64, self.snapshots.len() as u64]);
        file.u64s(&[terms_offset, events_offset, blob_offset, snapshots_offset]);
        file.u64s(&[program_offset, program.len() as u64, 0]);
        file.pad(NOTES_OFFSET);
        for note in &self.notes {
            file.u64s(&[note.site]);
            file.u32s(&[note.count, note.kind as u32]);
        }
        file.pad(CHANNELS_OFFSET);
        for (row, _) in &self.channels {
            file.u32s(&[row.kind as u32 | (row.piece as u32) << 8, row.index]);
            file.u64s(&[row.name_offset, row.name_size]);
            file.u64s(&[row.content_offset, row.content_size, row.start]);
        }
        file.pad(REGIONS_OFFSET);
        for snapshot in &self.snapshots {
            file.u64s(&[snapshot.address, snapshot.blob_offset, snapshot.size]);
        }
        file.0.extend(&self.blob);
        file.pad(events_offset as usize);
        for event in &self.events {
            file.0.extend([event.kind, event.flags]);
            file.0.extend(event.aux.to_le_bytes());
            file.u32s(&[event.label]);
            file.u64s(&[event.site]);
        }
        for term in &self.terms {
            file.0.extend([term.op, term.width, 0, 0]);
            file.u32s(&[term.a, term.b, term.c]);
            file.u64s(&[term.value]);
        }
        file.0
    }
}

#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn u32s(&mut self, words: &[u32]) {
        self.0
            .extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }

    fn u64s(&mut self, words: &[u64]) {
        self.0
            .extend(words.iter().flat_map(|word| word.to_le_bytes()));
    }

    fn pad(&mut self, size: usize) {
        self.0.resize(size, 0);
    }
}
