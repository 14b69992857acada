//! The arena: every term once, simplified when it is made.

use std::collections::HashMap;
use std::sync::Arc;

use nearmiss_abi::op::{self, MAX_WIDTH, Op, ResultWidth};

use crate::node::{InputByte, Node, Operands, SnapshotId, TermId};
use crate::simplify::{self, Counters, Draft};
use crate::store::{Record, Store};

/// Rules may make terms, to which rules apply in turn; this deep, and no deeper, so that no
/// shape of input exhausts the stack.
const MAX_RULE_DEPTH: u32 = 24;

/// The terms of one analysis. Making a term simplifies it (see [`Terms::rule_counts`]) and
/// finds the one that is already there.
#[derive(Clone, Debug)]
pub struct Terms {
    store: Store,
    snapshots: Vec<Arc<[u8]>>,
    /// The number of each of them: equal copies are one.
    snapshot_ids: HashMap<Arc<[u8]>, SnapshotId>,
    counters: Counters,
    rule_depth: u32,
}

impl Default for Terms {
    fn default() -> Terms {
        Terms::new()
    }
}

/// Looking at terms.
impl Terms {
    /// An arena without terms.
    pub fn new() -> Terms {
        Terms {
            store: Store::new(),
            snapshots: Vec::new(),
            snapshot_ids: HashMap::new(),
            counters: Counters::new(),
            rule_depth: 0,
        }
    }

    /// How many terms there are.
    pub fn len(&self) -> usize {
        self.store.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bits of a term.
    #[inline]
    pub fn width(&self, id: TermId) -> u32 {
        self.store.record(id).width as u32
    }

    /// The operation of a term.
    #[inline]
    pub fn op(&self, id: TermId) -> Op {
        self.store.record(id).op
    }

    /// The operands of a term.
    #[inline]
    pub fn operands(&self, id: TermId) -> Operands {
        let Record { op, a, b, c, .. } = self.store.record(id);
        Operands::new([TermId(a), TermId(b), TermId(c)], op.arity())
    }

    /// A term as a node.
    #[inline]
    pub fn node(&self, id: TermId) -> Node {
        let record = self.store.record(id);
        let (a, b, width) = (TermId(record.a), TermId(record.b), record.width as u32);
        match record.op {
            Op::Const => Node::Const {
                width,
                value: self.store.constant_value(&record),
            },
            Op::Input => Node::Input(InputByte {
                channel: record.a,
                offset: record.b,
            }),
            Op::Concat => Node::Concat { high: a, low: b },
            Op::Extract => Node::Extract {
                a,
                low: record.b,
                width,
            },
            Op::ZExt => Node::ZExt { a, width },
            Op::SExt => Node::SExt { a, width },
            Op::Ite => Node::Ite {
                condition: a,
                then: b,
                otherwise: TermId(record.c),
            },
            Op::Read => Node::Read {
                index: a,
                snapshot: SnapshotId(record.b),
                width,
            },
            op if op.arity() == 1 => Node::Unary { op, a },
            op => Node::Binary { op, a, b },
        }
    }

    /// The value of a term that is a constant.
    #[inline]
    pub fn as_constant(&self, id: TermId) -> Option<u128> {
        let record = self.store.record(id);
        (record.op == Op::Const).then(|| self.store.constant_value(&record))
    }

    /// The bytes of a snapshot.
    pub fn snapshot_bytes(&self, snapshot: SnapshotId) -> &[u8] {
        &self.snapshots[snapshot.0 as usize]
    }

    /// How many snapshots there are.
    pub fn snapshot_count(&self) -> usize {
        self.snapshots.len()
    }

    /// How often each rule has simplified a term, in the order of the table of rules.
    pub fn rule_counts(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.counters.iter()
    }
}

/// Making terms.
impl Terms {
    /// A constant; bits of `value` above the width are dropped.
    pub fn constant(&mut self, width: u32, value: u128) -> TermId {
        assert!((1..=MAX_WIDTH).contains(&width), "a width of {width}");
        let record = self.store.constant(width, op::truncate(value, width));
        self.store.intern(record)
    }

    /// One bit: 1 for true.
    pub fn truth(&mut self, truth: bool) -> TermId {
        self.constant(1, truth as u128)
    }

    /// A byte of the input.
    pub fn input(&mut self, byte: InputByte) -> TermId {
        self.store.intern(Record {
            op: Op::Input,
            width: 8,
            a: byte.channel,
            b: byte.offset,
            c: 0,
        })
    }

    /// Keeps a copy of memory for [`Terms::read`]; an equal one is kept once.
    pub fn snapshot(&mut self, bytes: impl Into<Arc<[u8]>>) -> SnapshotId {
        let bytes = bytes.into();
        let next = SnapshotId(self.snapshots.len() as u32);
        let id = *self.snapshot_ids.entry(bytes.clone()).or_insert(next);
        if id == next {
            self.snapshots.push(bytes);
        }
        id
    }

    /// A unary operation of the table in [`nearmiss_abi::op`].
    pub fn unary(&mut self, op: Op, a: TermId) -> TermId {
        assert!(
            op.arity() == 1 && op.result_width() == ResultWidth::Operand,
            "{} is not unary",
            op.name()
        );
        self.make(Draft::new(op, self.width(a), a))
    }

    /// A binary operation, comparison or overflow test of the table in [`nearmiss_abi::op`].
    pub fn binary(&mut self, op: Op, a: TermId, b: TermId) -> TermId {
        let operand_width = self.width(a);
        assert_eq!(operand_width, self.width(b), "operands of {}", op.name());
        let width = match op.result_width() {
            ResultWidth::Operand => operand_width,
            ResultWidth::Bit => 1,
            ResultWidth::Stated => panic!("{} has a constructor of its own", op.name()),
        };
        self.make(Draft::new(op, width, a).with_b(b))
    }

    /// The bits of `high` above those of `low`.
    pub fn concat(&mut self, high: TermId, low: TermId) -> TermId {
        let width = self.width(high) + self.width(low);
        assert!(width <= MAX_WIDTH, "a concatenation of {width} bits");
        self.make(Draft::new(Op::Concat, width, high).with_b(low))
    }

    /// `width` bits of `a` from bit `low` upwards.
    pub fn extract(&mut self, a: TermId, low: u32, width: u32) -> TermId {
        assert!(
            width >= 1 && low + width <= self.width(a),
            "{width} bits from {low} of {}",
            self.width(a)
        );
        self.make(Draft::new(Op::Extract, width, a).with_number(low))
    }

    /// The low `width` bits of `a`.
    pub fn truncate(&mut self, a: TermId, width: u32) -> TermId {
        self.extract(a, 0, width)
    }

    /// Zero extension to `width` bits.
    pub fn zext(&mut self, a: TermId, width: u32) -> TermId {
        self.extension(Op::ZExt, a, width)
    }

    /// Sign extension to `width` bits.
    pub fn sext(&mut self, a: TermId, width: u32) -> TermId {
        self.extension(Op::SExt, a, width)
    }

    fn extension(&mut self, op: Op, a: TermId, width: u32) -> TermId {
        let from = self.width(a);
        assert!(
            from <= width && width <= MAX_WIDTH,
            "{} from {from} to {width}",
            op.name()
        );
        self.make(Draft::new(op, width, a))
    }

    /// `then` if the one-bit `condition` is 1, else `otherwise`.
    pub fn ite(&mut self, condition: TermId, then: TermId, otherwise: TermId) -> TermId {
        let width = self.width(then);
        assert_eq!(self.width(condition), 1, "the condition of ite");
        assert_eq!(width, self.width(otherwise), "the arms of ite");
        let draft = Draft::new(Op::Ite, width, condition);
        self.make(draft.with_b(then).with_c(otherwise))
    }

    /// A little-endian read of `width / 8` bytes at a 64-bit byte offset of a snapshot.
    pub fn read(&mut self, index: TermId, snapshot: SnapshotId, width: u32) -> TermId {
        assert_eq!(self.width(index), 64, "the index of read");
        assert!(
            width.is_multiple_of(8) && (8..=MAX_WIDTH).contains(&width),
            "a read of {width} bits"
        );
        assert!(
            (snapshot.0 as usize) < self.snapshots.len(),
            "no such snapshot"
        );
        self.make(Draft::new(Op::Read, width, index).with_number(snapshot.0))
    }

    /// A term as a node has it, with other operands: `operand` says which. Snapshots are this arena's.
    pub fn remade(&mut self, node: Node, operand: impl Fn(TermId) -> TermId) -> TermId {
        match node {
            Node::Const { width, value } => self.constant(width, value),
            Node::Input(byte) => self.input(byte),
            Node::Unary { op, a } => self.unary(op, operand(a)),
            Node::Binary { op, a, b } => self.binary(op, operand(a), operand(b)),
            Node::Concat { high, low } => self.concat(operand(high), operand(low)),
            Node::Extract { a, low, width } => self.extract(operand(a), low, width),
            Node::ZExt { a, width } => self.zext(operand(a), width),
            Node::SExt { a, width } => self.sext(operand(a), width),
            Node::Ite {
                condition,
                then,
                otherwise,
            } => self.ite(operand(condition), operand(then), operand(otherwise)),
            Node::Read {
                index,
                snapshot,
                width,
            } => self.read(operand(index), snapshot, width),
        }
    }

    /// Bitwise complement; of one bit: the negation.
    pub fn not(&mut self, a: TermId) -> TermId {
        self.unary(Op::Not, a)
    }

    /// Bitwise and; of one bit: the conjunction.
    pub fn and(&mut self, a: TermId, b: TermId) -> TermId {
        self.binary(Op::And, a, b)
    }

    /// Bitwise or; of one bit: the disjunction.
    pub fn or(&mut self, a: TermId, b: TermId) -> TermId {
        self.binary(Op::Or, a, b)
    }

    /// Whether `a` and `b` are equal.
    pub fn eq(&mut self, a: TermId, b: TermId) -> TermId {
        self.binary(Op::Eq, a, b)
    }

    /// `condition`, or its negation where `truth` is false.
    pub fn holds(&mut self, condition: TermId, truth: bool) -> TermId {
        if truth {
            condition
        } else {
            self.not(condition)
        }
    }

    /// The term for a draft: an old one, a simpler one, or a new one.
    ///
    /// What is kept already needs no rules: they would not have let it in.
    #[inline]
    fn make(&mut self, draft: Draft) -> TermId {
        let record = draft.record();
        if let Some(id) = self.store.find(&record) {
            return id;
        }
        if self.rule_depth < MAX_RULE_DEPTH {
            self.rule_depth += 1;
            let simpler = simplify::apply(self, &draft);
            self.rule_depth -= 1;
            if let Some((rule, id)) = simpler {
                self.counters.count(rule);
                return id;
            }
        }
        self.store.intern(record)
    }

    /// The term for a draft as it stands, for tests of the rules.
    #[cfg(test)]
    pub(crate) fn make_plain(&mut self, draft: &Draft) -> TermId {
        self.store.intern(draft.record())
    }
}
