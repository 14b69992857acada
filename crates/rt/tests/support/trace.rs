//! A reader of traces for the tests: reads everything, believes nothing.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use nearmiss_abi::channel::{CHANNEL_ROWS, ChannelRow};
use nearmiss_abi::event::{Event, EventKind};
use nearmiss_abi::note::{NOTE_ROWS, NoteKind, NoteRow};
use nearmiss_abi::op::{Op, ResultWidth, evaluate, signed, truncate};
use nearmiss_abi::term::{TERM_LENGTH, Term};
use nearmiss_abi::trace::{CHANNELS_OFFSET, Header, MAGIC, NOTES_OFFSET, Snapshot};

pub struct Trace {
    pub header: Header,
    pub terms: Vec<Term>,
    pub values: Vec<u128>,
    pub events: Vec<Event>,
    pub notes: Vec<NoteRow>,
    pub channels: Vec<ChannelRow>,
    pub snapshots: Vec<Snapshot>,
    pub blob: Vec<u8>,
}

/// Records as they lie in the file.
fn records<T: Copy>(file: &File, offset: u64, count: u64) -> Vec<T> {
    let size = size_of::<T>();
    let mut bytes = vec![0u8; size * count as usize];
    file.read_exact_at(&mut bytes, offset).unwrap();
    bytes
        .chunks_exact(size)
        // SAFETY: the records are plain numbers, good for any bytes.
        .map(|record| unsafe { record.as_ptr().cast::<T>().read_unaligned() })
        .collect()
}

impl Trace {
    pub fn read(path: &Path) -> Trace {
        let file = File::open(path).unwrap();
        let header: Header = records(&file, 0, 1)[0];
        assert_eq!(header.magic, MAGIC);
        let notes: Vec<NoteRow> = records(&file, NOTES_OFFSET as u64, NOTE_ROWS as u64);
        let channels: Vec<ChannelRow> = records(&file, CHANNELS_OFFSET as u64, CHANNEL_ROWS as u64);
        let mut trace = Trace {
            terms: records(&file, header.terms_offset, header.term_count),
            values: Vec::new(),
            events: records(&file, header.events_offset, header.event_count),
            notes: notes.into_iter().take_while(|row| row.kind != 0).collect(),
            channels: channels
                .into_iter()
                .take_while(|row| row.kind != 0)
                .collect(),
            snapshots: records(&file, header.snapshots_offset, header.snapshot_count),
            blob: records(&file, header.blob_offset, header.blob_size),
            header,
        };
        trace.validate();
        trace
    }

    /// Every term has the value of its operation; every event is true.
    fn validate(&mut self) {
        assert_eq!(self.terms[0], Term::default());
        self.values.push(0);
        let mut keys = std::collections::HashSet::new();
        for label in 1..self.terms.len() {
            let term = self.terms[label];
            let op = Op::from_code(term.op).unwrap_or_else(|| panic!("{term:?}"));
            let constant = (op == Op::Const).then_some(term.value);
            let key = (term.op, term.width, term.a, term.b, term.c, constant);
            assert!(keys.insert(key), "{label} is there twice: {term:?}");
            for operand in [term.a, term.b, term.c].into_iter().take(op.arity()) {
                assert!(operand > 0 && (operand as usize) < label, "{term:?}");
            }
            let value = self.value(op, &term);
            assert_eq!(value as u64, term.value, "{label}: {term:?}");
            self.values.push(value);
        }
        for event in &self.events {
            let kind = EventKind::from_code(event.kind).unwrap();
            match kind {
                EventKind::Branch
                | EventKind::Check
                | EventKind::Assume
                | EventKind::Probe
                | EventKind::Hint => {
                    assert_eq!(self.terms[event.label as usize].width, 1);
                    assert_eq!(self.values[event.label as usize], event.truth() as u128);
                }
                EventKind::Switch | EventKind::Concretized => assert_ne!(event.label, 0),
                EventKind::Word => {
                    assert_eq!(self.terms[event.label as usize].width, 8);
                    assert!(usize::from(event.aux) < self.snapshots.len());
                }
                EventKind::CheckFailed | EventKind::Mark | EventKind::Answer => {
                    assert_eq!(event.label, 0)
                }
            }
        }
    }

    fn value(&self, op: Op, term: &Term) -> u128 {
        let width = term.width as u32;
        let of = |label: u32| self.values[label as usize];
        let width_of = |label: u32| self.terms[label as usize].width as u32;
        match op {
            Op::Const => term.constant_value(),
            Op::Input => term.value as u128,
            Op::Concat => {
                assert_eq!(width, width_of(term.a) + width_of(term.b));
                of(term.a) << width_of(term.b) | of(term.b)
            }
            Op::Extract => {
                assert!(term.b + width <= width_of(term.a));
                truncate(of(term.a) >> term.b, width)
            }
            Op::ZExt => of(term.a),
            Op::SExt => truncate(signed(of(term.a), width_of(term.a)) as u128, width),
            Op::Ite => of(if of(term.a) != 0 { term.b } else { term.c }),
            Op::Read => self.read_snapshot(term.b, of(term.a) as usize, width as usize / 8),
            _ => {
                let operands = width_of(term.a);
                match op.result_width() {
                    ResultWidth::Bit => assert_eq!(width, 1),
                    _ => assert_eq!(width, operands),
                }
                evaluate(op, operands, of(term.a), of(term.b)).unwrap()
            }
        }
    }

    fn read_snapshot(&self, number: u32, index: usize, size: usize) -> u128 {
        let snapshot = self.snapshots[number as usize];
        assert_eq!(self.terms[0].width, 0);
        let bytes = self.bytes(snapshot.blob_offset, snapshot.size);
        (0..size).rev().fold(0, |value, byte| {
            value << 8 | bytes.get(index + byte).copied().unwrap_or(0) as u128
        })
    }

    pub fn bytes(&self, offset: u64, size: u64) -> &[u8] {
        &self.blob[offset as usize..(offset + size) as usize]
    }

    pub fn channel_name(&self, channel: u32) -> String {
        let row = self.channels[channel as usize];
        String::from_utf8_lossy(self.bytes(row.name_offset, row.name_size)).into_owned()
    }

    pub fn channel_content(&self, channel: u32) -> &[u8] {
        let row = self.channels[channel as usize];
        self.bytes(row.content_offset, row.content_size)
    }

    /// The term as text: `add(stdin[0], 5)`.
    pub fn draw(&self, label: u32) -> String {
        let term = self.terms[label as usize];
        let Some(op) = Op::from_code(term.op) else {
            return "concrete".to_owned();
        };
        match op {
            Op::Const => format!("{}", term.constant_value()),
            Op::Input => {
                let name = self.channel_name(term.a);
                let name = name.rsplit('/').next().unwrap();
                format!("{name}[{}]", term.b)
            }
            Op::Concat if term.width == 32 && term.flags & TERM_LENGTH != 0 => "length".to_owned(),
            Op::Extract => format!("extract({}, {})", self.draw(term.a), term.b),
            Op::Read => format!("read{}({})", term.b, self.draw(term.a)),
            _ => {
                let operands: Vec<_> = [term.a, term.b, term.c]
                    .into_iter()
                    .take(op.arity())
                    .map(|operand| self.draw(operand))
                    .collect();
                format!("{}({})", op.name(), operands.join(", "))
            }
        }
    }

    /// How often this was noted.
    pub fn noted(&self, kind: NoteKind) -> u32 {
        let rows = self.notes.iter().filter(|row| row.kind == kind as u8);
        rows.map(|row| row.count).sum()
    }

    /// The events of a kind, drawn.
    pub fn drawn(&self, kind: EventKind) -> Vec<String> {
        self.events
            .iter()
            .filter(|event| event.kind == kind as u8)
            .map(|event| format!("{} {}", self.draw(event.label), event.truth() as u8))
            .collect()
    }
}
