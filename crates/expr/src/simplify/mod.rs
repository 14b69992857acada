//! The rewrite rules that simplify a term when it is made.
//!
//! A rule is a small function: it looks at a [`Draft`] (the term about to be made, whose
//! operands are already simple) and returns an equal term or `None`. Rules stand in the tables
//! of their modules; the first that answers wins. Every rule must make the term smaller, or
//! nearer to the canonical form described in its module, so that rewriting ends.

use std::sync::OnceLock;

use nearmiss_abi::op::Op;

use crate::node::{Node, TermId};
use crate::store::Record;
use crate::terms::Terms;

mod arithmetic;
mod bits;
mod constant;
mod equality;
mod extension;
mod ite;
mod order;
mod overflow;
mod shift;
mod structure;
#[cfg(test)]
mod tests;

/// A term about to be made. Which fields matter depends on the operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draft {
    pub op: Op,
    /// Bits of the result.
    pub width: u32,
    pub a: TermId,
    pub b: TermId,
    pub c: TermId,
    /// The lowest bit of an extract, the snapshot of a read.
    pub number: u32,
}

/// Condition and both values of a choice between two constants.
pub(crate) fn constant_choice(terms: &Terms, id: TermId) -> Option<(TermId, TermId, TermId)> {
    match terms.node(id) {
        Node::Ite {
            condition,
            then,
            otherwise,
        } if terms.as_constant(then).is_some() && terms.as_constant(otherwise).is_some() => {
            Some((condition, then, otherwise))
        }
        _ => None,
    }
}

impl Draft {
    #[inline]
    pub fn new(op: Op, width: u32, a: TermId) -> Draft {
        let none = TermId(0);
        Draft {
            op,
            width,
            a,
            b: none,
            c: none,
            number: 0,
        }
    }

    #[inline]
    pub fn with_b(self, b: TermId) -> Draft {
        Draft { b, ..self }
    }

    #[inline]
    pub fn with_c(self, c: TermId) -> Draft {
        Draft { c, ..self }
    }

    #[inline]
    pub fn with_number(self, number: u32) -> Draft {
        Draft { number, ..self }
    }

    /// How it is kept: `b` and the number share a field, as no operation has both.
    #[inline]
    pub fn record(&self) -> Record {
        Record {
            op: self.op,
            width: self.width as u8,
            a: self.a.0,
            b: self.b.0 | self.number,
            c: self.c.0,
        }
    }
}

/// A rule: its name in statistics, the operations it looks at, and what it does.
pub(crate) struct Rule {
    pub name: &'static str,
    pub ops: &'static [Op],
    pub apply: fn(&mut Terms, &Draft) -> Option<TermId>,
}

/// Makes a module's table: rows of `function: operations;`.
macro_rules! rules {
    ($($name:ident: $($op:ident)|+;)*) => {
        pub(super) const RULES: &[$crate::simplify::Rule] = &[$($crate::simplify::Rule {
            name: stringify!($name),
            ops: &[$(nearmiss_abi::op::Op::$op),+],
            apply: $name,
        },)*];
    };
}
use rules;

/// Every rule; earlier tables and rows are tried first.
const TABLES: &[&[Rule]] = &[
    constant::RULES,
    arithmetic::RULES,
    bits::RULES,
    shift::RULES,
    equality::RULES,
    order::RULES,
    overflow::RULES,
    structure::RULES,
    extension::RULES,
    ite::RULES,
];

/// All rules in the order in which they are tried.
pub(crate) fn all_rules() -> impl Iterator<Item = &'static Rule> {
    TABLES.iter().copied().flatten()
}

/// For each code of an operation the rules that look at it, with their numbers.
type Dispatch = Vec<Vec<(u16, fn(&mut Terms, &Draft) -> Option<TermId>)>>;

fn dispatch() -> &'static Dispatch {
    static DISPATCH: OnceLock<Dispatch> = OnceLock::new();
    DISPATCH.get_or_init(|| {
        let mut dispatch: Dispatch = vec![Vec::new(); 256];
        for (number, rule) in all_rules().enumerate() {
            for &op in rule.ops {
                dispatch[op as usize].push((number as u16, rule.apply));
            }
        }
        dispatch
    })
}

/// The number of the first rule that answers, and its answer.
pub(crate) fn apply(terms: &mut Terms, draft: &Draft) -> Option<(u16, TermId)> {
    dispatch()[draft.op as usize]
        .iter()
        .find_map(|&(number, apply)| Some((number, apply(terms, draft)?)))
}

/// How often each rule answered.
#[derive(Clone, Debug)]
pub(crate) struct Counters(Vec<u64>);

impl Counters {
    pub fn new() -> Counters {
        Counters(vec![0; all_rules().count()])
    }

    #[inline]
    pub fn count(&mut self, rule: u16) {
        self.0[rule as usize] += 1;
    }

    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        all_rules()
            .map(|rule| rule.name)
            .zip(self.0.iter().copied())
    }
}
