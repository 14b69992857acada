//! The value of terms under an assignment of the input bytes.

use std::collections::HashMap;

use nearmiss_abi::op;

use crate::node::{InputByte, Node, SnapshotId, TermId};
use crate::terms::Terms;

/// An assignment: what value each input byte has. Closures are assignments.
pub trait Inputs {
    /// The value of one byte.
    fn byte(&self, byte: InputByte) -> u8;
}

impl<F: Fn(InputByte) -> u8> Inputs for F {
    fn byte(&self, byte: InputByte) -> u8 {
        self(byte)
    }
}

/// An assignment of some bytes; the others have one default value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment {
    /// The bytes that have a value of their own.
    pub bytes: HashMap<InputByte, u8>,
    /// The value of all others.
    pub default: u8,
}

impl Inputs for Assignment {
    fn byte(&self, byte: InputByte) -> u8 {
        self.bytes.get(&byte).copied().unwrap_or(self.default)
    }
}

/// Evaluates many terms under one assignment, each node once.
///
/// Values are kept in a row per term, marked with the number of the assignment they belong
/// to: [`Evaluator::reset`], for the next assignment, only counts that number up.
#[derive(Clone, Debug, Default)]
pub struct Evaluator {
    values: Vec<u128>,
    marks: Vec<u32>,
    generation: u32,
    /// Terms under way; kept to save its allocation.
    stack: Vec<TermId>,
}

impl Evaluator {
    /// An evaluator that knows no value.
    pub fn new() -> Evaluator {
        Evaluator {
            generation: 1,
            ..Evaluator::default()
        }
    }

    /// Forgets all values: call this before the assignment (or the arena) changes.
    pub fn reset(&mut self) {
        if self.generation == u32::MAX {
            self.marks.fill(0);
            self.generation = 0;
        }
        self.generation += 1;
    }

    /// The value of a term. All calls between two [`Evaluator::reset`]s must be about one
    /// arena and one assignment.
    pub fn evaluate(&mut self, terms: &Terms, inputs: &dyn Inputs, id: TermId) -> u128 {
        if let Some(value) = self.known(id) {
            return value;
        }
        if self.marks.len() < terms.len() {
            self.values.resize(terms.len(), 0);
            self.marks.resize(terms.len(), 0);
        }
        self.stack.push(id);
        while let Some(&top) = self.stack.last() {
            let waiting = self.stack.len();
            for operand in terms.operands(top) {
                if self.marks[operand.index()] != self.generation {
                    self.stack.push(operand);
                }
            }
            if self.stack.len() == waiting {
                let value = self.apply(terms, inputs, top);
                self.values[top.index()] = value;
                self.marks[top.index()] = self.generation;
                self.stack.pop();
            }
        }
        self.values[id.index()]
    }

    /// Whether a one-bit term is true.
    pub fn holds(&mut self, terms: &Terms, inputs: &dyn Inputs, condition: TermId) -> bool {
        self.evaluate(terms, inputs, condition) == 1
    }

    fn known(&self, id: TermId) -> Option<u128> {
        let mark = *self.marks.get(id.index())?;
        (mark == self.generation).then(|| self.values[id.index()])
    }

    /// The value of one node whose operands have theirs.
    fn apply(&self, terms: &Terms, inputs: &dyn Inputs, id: TermId) -> u128 {
        let value = |id: TermId| self.values[id.index()];
        match terms.node(id) {
            Node::Const { value, .. } => value,
            Node::Input(byte) => inputs.byte(byte) as u128,
            Node::Ite {
                condition,
                then,
                otherwise,
            } => value(if value(condition) == 1 {
                then
            } else {
                otherwise
            }),
            Node::Read {
                index,
                snapshot,
                width,
            } => read_node(terms, snapshot, value(index), width),
            Node::Unary { a, .. }
            | Node::Extract { a, .. }
            | Node::ZExt { a, .. }
            | Node::SExt { a, .. } => apply_node(terms, id, [value(a), 0]),
            Node::Binary { a, b, .. } => apply_node(terms, id, [value(a), value(b)]),
            Node::Concat { high, low } => apply_node(terms, id, [value(high), value(low)]),
        }
    }
}

/// The value of a node that computes with at most two operands, which have these values.
pub(crate) fn apply_node(terms: &Terms, id: TermId, [first, second]: [u128; 2]) -> u128 {
    match terms.node(id) {
        Node::Unary { op, a } => operate(op, terms.width(a), first, 0),
        Node::Binary { op, a, .. } => operate(op, terms.width(a), first, second),
        Node::Concat { low, .. } => first << terms.width(low) | second,
        Node::Extract { low, width, .. } => op::truncate(first >> low, width),
        Node::ZExt { .. } => first,
        Node::SExt { a, width } => op::truncate(op::signed(first, terms.width(a)) as u128, width),
        _ => unreachable!("leaves, choices and reads do not compute"),
    }
}

/// The value of a [`Node::Read`] at an index.
pub(crate) fn read_node(terms: &Terms, snapshot: SnapshotId, index: u128, width: u32) -> u128 {
    read(terms.snapshot_bytes(snapshot), index, width)
}

fn operate(op: op::Op, width: u32, a: u128, b: u128) -> u128 {
    op::evaluate(op, width, a, b).expect("a unary or binary operation")
}

/// A little-endian read of `width / 8` bytes at `index`; bytes outside are zero.
pub(crate) fn read(bytes: &[u8], index: u128, width: u32) -> u128 {
    let byte = |k: u128| {
        let at = usize::try_from(index + k).ok();
        at.and_then(|at| bytes.get(at)).copied().unwrap_or(0)
    };
    (0..width as u128 / 8).fold(0, |value, k| value | (byte(k) as u128) << (8 * k))
}

#[cfg(test)]
mod tests {
    use nearmiss_abi::op::Op;

    use super::*;

    #[test]
    fn reads_are_zero_outside() {
        let bytes = [1, 2, 3];
        let cases = [
            (0, 16, 0x0201),
            (2, 16, 0x0003),
            (3, 8, 0),
            (u64::MAX as u128, 16, 0),
        ];
        for (index, width, expected) in cases {
            assert_eq!(read(&bytes, index, width), expected, "at {index}");
        }
    }

    #[test]
    fn a_deep_chain_under_two_assignments() {
        let mut terms = Terms::new();
        let byte = InputByte {
            channel: 0,
            offset: 0,
        };
        let input = terms.input(byte);
        let input = terms.zext(input, 64);
        let three = terms.constant(64, 3);
        let mut chain = input;
        for _ in 0..500_000 {
            let product = terms.binary(Op::Mul, chain, three);
            chain = terms.binary(Op::Add, product, input);
        }
        let expected =
            |x: u64| (0..500_000).fold(x, |chain, _| chain.wrapping_mul(3).wrapping_add(x)) as u128;
        let mut evaluator = Evaluator::new();
        for x in [7u8, 200] {
            let bytes = HashMap::from([(byte, x)]);
            let inputs = Assignment { bytes, default: 0 };
            let found = evaluator.evaluate(&terms, &inputs, chain);
            assert_eq!(found, expected(x as u64));
            evaluator.reset();
        }
    }
}
