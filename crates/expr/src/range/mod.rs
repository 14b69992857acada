//! Which values a term can have, also under the conditions of a path.
//!
//! A [`Range`] is computed for a term from its operands' when it is first asked for, and kept.
//! [`Ranges::assume`] then narrows: a condition that holds narrows its operands, theirs, and
//! so on down (module `backward`), and every change is carried up to the terms above that
//! have a range already. Assumptions only accumulate, so ranges only shrink. The work of one
//! assumption is bounded; what is left undone makes ranges wider than need be, never wrong.
//!
//! Memory: four bytes for a term nobody asked about, about 150 for the others.

mod backward;
mod predicate;
pub(crate) mod table;
#[cfg(test)]
mod tests;
mod transfer;
mod value;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::node::{Node, TermId};
use crate::terms::Terms;

use backward::Narrowings;
pub use value::Range;

/// Most terms that one assumption looks at.
const MAX_STEPS: usize = 1024;

/// Marks the end of a list, and a term without a range.
const NONE: u32 = u32::MAX;

/// The ranges of one arena's terms, narrowed by the conditions of one path.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    /// For each term its row, or [`NONE`].
    rows: Vec<u32>,
    table: Vec<Row>,
    /// Lists of the terms made of a term, threaded through this vector.
    uses: Vec<Use>,
    contradictory: bool,
    narrowings: Narrowings,
    /// Terms whose operands have changed, the oldest first.
    stale: BinaryHeap<Reverse<TermId>>,
    /// Ranges as they were before a supposition, the last change last; `None` where what is assumed stays.
    supposed: Option<Vec<(TermId, Range)>>,
}

#[derive(Clone, Debug)]
struct Row {
    range: Range,
    first_use: u32,
    /// The operands' ranges leave one value. They only shrink, so nothing is to be learnt from this term any more.
    is_decided: bool,
}

#[derive(Clone, Copy, Debug)]
struct Use {
    user: TermId,
    next: u32,
}

impl Ranges {
    /// Knows nothing but the terms.
    pub fn new() -> Ranges {
        Ranges::default()
    }

    /// The range of a term.
    pub fn range(&mut self, terms: &Terms, id: TermId) -> Range {
        if self.rows.len() < terms.len() {
            self.rows.resize(terms.len(), NONE);
        }
        let mut stack = vec![id];
        while let Some(&top) = stack.last() {
            if self.rows[top.index()] != NONE {
                stack.pop();
                continue;
            }
            let waiting = stack.len();
            let unknown = |operand: &TermId| self.rows[operand.index()] == NONE;
            stack.extend(terms.operands(top).filter(unknown));
            if stack.len() == waiting {
                self.add(terms, top);
                stack.pop();
            }
        }
        self.known(id)
    }

    /// The value of a one-bit term, if its range decides it.
    pub fn truth(&mut self, terms: &Terms, condition: TermId) -> Option<bool> {
        self.range(terms, condition).truth()
    }

    /// From here on the one-bit `condition` is known to be `truth`.
    pub fn assume(&mut self, terms: &Terms, condition: TermId, truth: bool) {
        self.assume_range(terms, condition, Range::constant(1, truth as u128));
    }

    /// From here on the value of a term is known to lie in `range`.
    pub fn assume_range(&mut self, terms: &Terms, id: TermId, range: Range) {
        self.range(terms, id);
        self.narrowings.push((id, range));
        self.settle(terms);
    }

    /// The ranges of `wanted` if all `conditions` hold as well, `None` if they were found to contradict what is
    /// assumed. Nothing of it stays.
    pub fn supposing(
        &mut self,
        terms: &Terms,
        conditions: &[TermId],
        wanted: &[TermId],
    ) -> Option<Vec<Range>> {
        // Terms that get their ranges later would have them by the supposition.
        for &id in conditions.iter().chain(wanted) {
            self.range(terms, id);
        }
        let was_contradictory = self.contradictory;
        self.supposed = Some(Vec::new());
        for &condition in conditions {
            self.assume(terms, condition, true);
        }
        let ranges = || wanted.iter().map(|&id| self.known(id)).collect();
        let found = (!self.contradictory).then(ranges);
        self.contradictory = was_contradictory;
        for (id, range) in self.supposed.take().into_iter().flatten().rev() {
            self.row(id).range = range;
        }
        found
    }

    /// Whether the assumptions were found to contradict each other. Ranges then say nothing.
    pub fn is_contradictory(&self) -> bool {
        self.contradictory
    }

    /// The range of a term that has one.
    fn known(&self, id: TermId) -> Range {
        self.table[self.rows[id.index()] as usize].range
    }

    /// Computes the range of a term whose operands have theirs.
    fn add(&mut self, terms: &Terms, id: TermId) {
        let range = self.forward(terms, id);
        let is_decided = range.value().is_some();
        self.rows[id.index()] = self.table.len() as u32;
        self.table.push(Row {
            range,
            first_use: NONE,
            is_decided,
        });
        if is_decided {
            return;
        }
        for operand in terms.operands(id) {
            let row = &mut self.table[self.rows[operand.index()] as usize];
            self.uses.push(Use {
                user: id,
                next: row.first_use,
            });
            row.first_use = self.uses.len() as u32 - 1;
        }
    }

    /// The range of a term as its operands' ranges have it.
    fn forward(&self, terms: &Terms, id: TermId) -> Range {
        match terms.node(id) {
            Node::Const { width, value } => Range::constant(width, value),
            Node::Input(_) => Range::full(8),
            Node::Unary { op, a } => transfer::unary(op, &self.known(a)),
            Node::Binary { op, a, b } => transfer::binary(op, &self.known(a), &self.known(b)),
            Node::Concat { high, low } => transfer::concat(&self.known(high), &self.known(low)),
            Node::Extract { a, low, width } => transfer::extract(&self.known(a), low, width),
            Node::ZExt { a, width } => transfer::zext(&self.known(a), width),
            Node::SExt { a, width } => transfer::sext(&self.known(a), width),
            Node::Ite {
                condition,
                then,
                otherwise,
            } => match self.known(condition).truth() {
                Some(true) => self.known(then),
                Some(false) => self.known(otherwise),
                None => self.known(then).join(&self.known(otherwise)),
            },
            Node::Read {
                index,
                snapshot,
                width,
            } => table::values(terms.snapshot_bytes(snapshot), &self.known(index), width),
        }
    }

    /// Carries changes down and up until nothing changes, or the bound on work is reached.
    fn settle(&mut self, terms: &Terms) {
        for _ in 0..MAX_STEPS {
            if let Some((id, range)) = self.narrowings.pop() {
                self.narrow(terms, id, &range, false);
            } else if let Some(Reverse(id)) = self.stale.pop() {
                while self.stale.peek() == Some(&Reverse(id)) {
                    self.stale.pop();
                }
                let range = self.forward(terms, id);
                let is_decided = range.value().is_some();
                self.narrow(terms, id, &range, !is_decided);
                self.row(id).is_decided = is_decided && self.supposed.is_none();
            } else {
                return;
            }
        }
        self.narrowings.clear();
        self.stale.clear();
    }

    /// Meets a term's range with `range`. If that changes it, or an operand has changed, the
    /// operands may learn from it; if it changes it, the terms above are stale.
    fn narrow(&mut self, terms: &Terms, id: TermId, range: &Range, operands_changed: bool) {
        let old = self.known(id);
        let Some(new) = old.meet(range) else {
            self.contradictory = true;
            return;
        };
        let changed = new != old;
        if changed {
            if let Some(before) = &mut self.supposed {
                before.push((id, old));
            }
            self.row(id).range = new;
            self.mark_users(id);
        }
        if changed || operands_changed {
            let mut found = std::mem::take(&mut self.narrowings);
            backward::operands(self, terms, id, &new, &mut found);
            self.narrowings = found;
        }
    }

    /// The terms made of one that changed are stale. Those that are decided leave the list: a loop compares one
    /// length thousands of times, and it grows with each.
    fn mark_users(&mut self, id: TermId) {
        let mut kept = NONE;
        let mut next = self.row(id).first_use;
        let mut left = MAX_STEPS;
        while next != NONE && left > 0 {
            let entry = self.uses[next as usize];
            if !self.row(entry.user).is_decided {
                self.stale.push(Reverse(entry.user));
                kept = next;
                left -= 1;
            } else if kept == NONE {
                self.row(id).first_use = entry.next;
            } else {
                self.uses[kept as usize].next = entry.next;
            }
            next = entry.next;
        }
    }

    fn row(&mut self, id: TermId) -> &mut Row {
        &mut self.table[self.rows[id.index()] as usize]
    }
}
