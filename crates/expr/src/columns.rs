//! The value of terms under many assignments at once: a column of values for each term.
//!
//! Where there are few inputs at all, a condition is evaluated for each of them, and what its terms have in common
//! with those of other conditions once.

use std::collections::HashMap;

use nearmiss_abi::op;

use crate::evaluate::{apply_node, read_node};
use crate::node::{InputByte, Node, TermId};
use crate::terms::Terms;

/// Values of a term, one for each assignment.
#[derive(Clone, Debug)]
enum Column {
    Bytes(Box<[u8]>),
    Words(Box<[u64]>),
}

impl Column {
    fn of(values: Vec<u64>) -> Column {
        if values.iter().all(|value| *value <= u64::from(u8::MAX)) {
            return Column::Bytes(values.iter().map(|value| *value as u8).collect());
        }
        Column::Words(values.into())
    }

    #[inline(always)]
    fn get(&self, row: usize) -> u64 {
        match self {
            Column::Bytes(values) => values[row].into(),
            Column::Words(values) => values[row],
        }
    }

    fn size(&self) -> usize {
        match self {
            Column::Bytes(values) => values.len(),
            Column::Words(values) => values.len() * size_of::<u64>(),
        }
    }
}

/// Evaluates terms under the rows of a table.
#[derive(Clone, Debug)]
pub struct Columns {
    rows: usize,
    inputs: HashMap<InputByte, Column>,
    known: HashMap<TermId, Column>,
    /// Bytes that `known` takes up.
    used: usize,
}

/// What columns of terms may take up; beyond that they are computed again.
const ROOM: usize = 64 << 20;
/// Terms of more bits are not kept in columns.
const MOST_BITS: u32 = 64;

impl Columns {
    /// The values of each input byte, as many of each as there are `rows`.
    pub fn new(rows: usize, inputs: impl IntoIterator<Item = (InputByte, Vec<u8>)>) -> Columns {
        let inputs = inputs.into_iter().map(|(byte, values)| {
            debug_assert_eq!(values.len(), rows);
            (byte, Column::Bytes(values.into()))
        });
        Columns {
            rows,
            inputs: inputs.collect(),
            known: HashMap::new(),
            used: 0,
        }
    }

    /// How many assignments there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The value of an input byte in a row.
    pub fn input(&self, byte: InputByte, row: usize) -> Option<u8> {
        Some(self.inputs.get(&byte)?.get(row) as u8)
    }

    /// In which rows a one-bit term is true, a bit for each; `None` if it depends on another byte, or on numbers
    /// that are too wide.
    pub fn truth(&mut self, terms: &Terms, condition: TermId) -> Option<Box<[u64]>> {
        if self.used > ROOM {
            self.known.clear();
            self.used = 0;
        }
        let mut stack = vec![condition];
        while let Some(&top) = stack.last() {
            let waiting = stack.len();
            stack.extend(
                terms
                    .operands(top)
                    .filter(|id| !self.known.contains_key(id)),
            );
            if stack.len() > waiting {
                continue;
            }
            stack.pop();
            if !self.known.contains_key(&top) {
                let column = self.column(terms, top)?;
                self.used += column.size();
                self.known.insert(top, column);
            }
        }
        let column = &self.known[&condition];
        let mut bits = vec![0; self.rows.div_ceil(64)];
        for row in (0..self.rows).filter(|&row| column.get(row) == 1) {
            bits[row / 64] |= 1 << (row % 64);
        }
        Some(bits.into())
    }

    /// The values of a term whose operands have theirs.
    fn column(&self, terms: &Terms, id: TermId) -> Option<Column> {
        if terms.width(id) > MOST_BITS {
            return None;
        }
        let of = |id: TermId| &self.known[&id];
        let each = |value: &dyn Fn(usize) -> u64| Column::of((0..self.rows).map(value).collect());
        Some(match terms.node(id) {
            Node::Const { value, .. } => each(&|_| value as u64),
            Node::Input(byte) => self.inputs.get(&byte)?.clone(),
            Node::Ite {
                condition,
                then,
                otherwise,
            } => {
                let (condition, then, otherwise) = (of(condition), of(then), of(otherwise));
                each(&|row| match condition.get(row) {
                    1 => then.get(row),
                    _ => otherwise.get(row),
                })
            }
            Node::Read {
                index,
                snapshot,
                width,
            } => {
                let index = of(index);
                each(&|row| read_node(terms, snapshot, index.get(row).into(), width) as u64)
            }
            Node::Binary { op, a, b } => {
                let (width, a, b) = (terms.width(a), of(a), of(b));
                each(&|row| {
                    let value = op::evaluate(op, width, a.get(row).into(), b.get(row).into());
                    value.expect("a binary operation") as u64
                })
            }
            Node::Concat { high, low } => {
                let (shift, high, low) = (terms.width(low), of(high), of(low));
                each(&|row| high.get(row) << shift | low.get(row))
            }
            Node::Unary { a, .. }
            | Node::Extract { a, .. }
            | Node::ZExt { a, .. }
            | Node::SExt { a, .. } => {
                let a = of(a);
                each(&|row| apply_node(terms, id, [a.get(row).into(), 0]) as u64)
            }
        })
    }
}
