//! The table behind the arena: 16-byte records, each kept once.
//!
//! A hash table of its own instead of a `HashMap`: the records are the keys and live in one
//! vector only, so a slot of the table is four bytes and growing it moves no record.

use nearmiss_abi::op::Op;

use crate::node::TermId;

/// A term as it is kept. What the fields `a`, `b`, `c` hold depends on the operation, as in
/// the trace ([`nearmiss_abi::op`]); a constant has the lower half of its value in `a` and
/// `b`, and in `c` the position of the upper half in [`Store::upper_halves`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Record {
    pub op: Op,
    pub width: u8,
    pub a: u32,
    pub b: u32,
    pub c: u32,
}

const _: () = assert!(size_of::<Record>() == 16);

/// Marks a free slot.
const FREE: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub(crate) struct Store {
    records: Vec<Record>,
    /// Open addressing with linear probing; the length is a power of two.
    slots: Vec<u32>,
    /// Upper halves of constants; the first is 0. Few programs have more than a handful.
    upper_halves: Vec<u64>,
}

impl Store {
    pub fn new() -> Store {
        Store {
            records: Vec::new(),
            slots: vec![FREE; 1024],
            upper_halves: vec![0],
        }
    }

    pub fn len(&self) -> usize {
        self.records.len()
    }

    #[inline]
    pub fn record(&self, id: TermId) -> Record {
        self.records[id.index()]
    }

    /// The record of a constant.
    pub fn constant(&mut self, width: u32, value: u128) -> Record {
        let upper = (value >> 64) as u64;
        Record {
            op: Op::Const,
            width: width as u8,
            a: value as u32,
            b: (value >> 32) as u32,
            c: self.upper_half(upper),
        }
    }

    fn upper_half(&mut self, upper: u64) -> u32 {
        let known = self.upper_halves.iter().position(|&half| half == upper);
        known.unwrap_or_else(|| {
            self.upper_halves.push(upper);
            self.upper_halves.len() - 1
        }) as u32
    }

    /// The value of a constant's record.
    #[inline]
    pub fn constant_value(&self, record: &Record) -> u128 {
        let lower = record.a as u64 | (record.b as u64) << 32;
        (self.upper_halves[record.c as usize] as u128) << 64 | lower as u128
    }

    /// The id of a record that is already kept.
    #[inline]
    pub fn find(&self, record: &Record) -> Option<TermId> {
        let mask = self.slots.len() - 1;
        let mut slot = hash(record) as usize & mask;
        loop {
            match self.slots[slot] {
                FREE => return None,
                id if self.records[id as usize] == *record => return Some(TermId(id)),
                _ => slot = (slot + 1) & mask,
            }
        }
    }

    /// The id of a record, which is added if it is new.
    pub fn intern(&mut self, record: Record) -> TermId {
        if let Some(id) = self.find(&record) {
            return id;
        }
        if (self.records.len() + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let id = TermId::from_index(self.records.len());
        self.records.push(record);
        occupy(&mut self.slots, &record, id.0);
        id
    }

    fn grow(&mut self) {
        let mut slots = vec![FREE; self.slots.len() * 2];
        for (id, record) in self.records.iter().enumerate() {
            occupy(&mut slots, record, id as u32);
        }
        self.slots = slots;
    }
}

fn occupy(slots: &mut [u32], record: &Record, id: u32) {
    let mask = slots.len() - 1;
    let mut slot = hash(record) as usize & mask;
    while slots[slot] != FREE {
        slot = (slot + 1) & mask;
    }
    slots[slot] = id;
}

/// Two multiplications of the record's two words, folded so that the low bits depend on all.
#[inline]
fn hash(record: &Record) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let first = (record.op as u64) | (record.width as u64) << 8 | (record.a as u64) << 32;
    let second = record.b as u64 | (record.c as u64) << 32;
    let mixed = (first.wrapping_mul(ODD) ^ second).wrapping_mul(ODD);
    let folded = (mixed ^ mixed >> 32).wrapping_mul(ODD);
    folded ^ folded >> 29
}
