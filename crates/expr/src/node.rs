//! What a term is: names, leaves and the view of one node.

use nearmiss_abi::op::Op;

/// Names a term of one [`Terms`](crate::Terms). Operands have smaller ids than the terms made
/// of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct TermId(pub(crate) u32);

impl TermId {
    /// The position in the arena, from 0: for tables with a row per term.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The term at a position in the arena; the inverse of [`TermId::index`].
    pub fn from_index(index: usize) -> TermId {
        TermId(u32::try_from(index).expect("fewer than 2^32 terms"))
    }
}

/// One byte of the input.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct InputByte {
    /// Which channel it came through: a row of the trace's table of channels.
    pub channel: u32,
    /// Which byte of the channel.
    pub offset: u32,
}

/// Names a copy of memory that [`Node::Read`] terms read from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct SnapshotId(pub u32);

/// One node of a term, as it is seen from outside.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// A constant; `value` is zero above the width.
    Const {
        /// Bits.
        width: u32,
        /// Its value.
        value: u128,
    },
    /// A byte of the input: eight bits.
    Input(InputByte),
    /// An operation on one operand, with a result of the same width.
    Unary {
        /// Which.
        op: Op,
        /// The operand.
        a: TermId,
    },
    /// An operation on two operands of one width.
    Binary {
        /// Which.
        op: Op,
        /// The left operand.
        a: TermId,
        /// The right operand.
        b: TermId,
    },
    /// The bits of `high` above those of `low`.
    Concat {
        /// The upper part.
        high: TermId,
        /// The lower part.
        low: TermId,
    },
    /// `width` bits of `a` from bit `low` upwards.
    Extract {
        /// The operand.
        a: TermId,
        /// The lowest bit taken.
        low: u32,
        /// How many bits.
        width: u32,
    },
    /// `a` with zeros above it.
    ZExt {
        /// The operand.
        a: TermId,
        /// Bits of the result.
        width: u32,
    },
    /// `a` with copies of its sign above it.
    SExt {
        /// The operand.
        a: TermId,
        /// Bits of the result.
        width: u32,
    },
    /// `then` if the one-bit `condition` is 1, else `otherwise`.
    Ite {
        /// One bit.
        condition: TermId,
        /// The value if it is 1.
        then: TermId,
        /// The value if it is 0.
        otherwise: TermId,
    },
    /// A little-endian read of `width / 8` bytes; bytes outside the snapshot are zero.
    Read {
        /// The byte offset in the snapshot, 64 bits.
        index: TermId,
        /// What is read.
        snapshot: SnapshotId,
        /// Bits of the result.
        width: u32,
    },
}

/// The operands of a term, from the first to the last.
#[derive(Clone, Debug)]
pub struct Operands {
    ids: [TermId; 3],
    next: u8,
    count: u8,
}

impl Operands {
    pub(crate) fn new(ids: [TermId; 3], count: usize) -> Operands {
        Operands {
            ids,
            next: 0,
            count: count as u8,
        }
    }
}

impl Iterator for Operands {
    type Item = TermId;

    #[inline]
    fn next(&mut self) -> Option<TermId> {
        if self.next == self.count {
            return None;
        }
        self.next += 1;
        Some(self.ids[self.next as usize - 1])
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = (self.count - self.next) as usize;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Operands {}
