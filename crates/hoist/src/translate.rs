//! Bit-vector terms → conditions over mathematical integers.
//!
//! A word of w bits is a sum of inputs *modulo 2^w*: addition, subtraction and multiplication by a number are
//! exact there. Where it is compared or extended its true value matters: the ranges of its inputs say in which
//! windows of 2^w numbers the sum can lie, and for each of the few windows the value is the sum less a
//! constant. A choice makes two pieces of one word in the same way. What depends on one byte only is
//! found by trying its 256 values. All else is given up.

mod sums;
mod truths;

use std::collections::HashMap;

use nearmiss_expr::{Supports, TermId, Terms};

use crate::condition::{Condition, Ranges};
use crate::inputs::{Role, View};
use crate::linear::{Linear, Variable};

/// A word as a sum of inputs modulo 2^width, under conditions that exclude each other.
type Pieces = Vec<(Condition, Linear)>;

/// Windows that a sum may lie in.
const MOST_WINDOWS: i128 = 3;
/// Words of more bits hold every sum of inputs: nothing wraps around.
const WIDEST: u32 = 90;
/// Terms one within the other.
const MOST_DEPTH: u32 = 120;

/// Translates the terms of one path.
pub struct Translator<'a> {
    terms: &'a Terms,
    view: View<'a>,
    /// What the path says of single inputs so far.
    narrowed: HashMap<Variable, (i128, i128)>,
    supports: Supports,
    known: HashMap<TermId, Option<Pieces>>,
    depth: u32,
}

impl<'a> Translator<'a> {
    /// A translator for terms over these inputs.
    pub fn new(terms: &'a Terms, view: View<'a>) -> Translator<'a> {
        Translator {
            terms,
            view,
            narrowed: HashMap::new(),
            supports: Supports::new(),
            known: HashMap::new(),
            depth: 0,
        }
    }

    /// A one-bit term as a condition that agrees with it wherever everything assumed before holds; `None` if
    /// that cannot be said.
    pub fn condition(&mut self, id: TermId) -> Option<Condition> {
        self.known.clear();
        self.depth = 0;
        self.truth(id)
    }

    /// The pointers that a term looks at beside numbers: whether they are null is an input of their own.
    pub fn pointers(&mut self, id: TermId) -> Vec<Variable> {
        let support = self.supports.of(self.terms, id);
        let bytes = self.supports.bytes(support);
        let of_call = bytes.iter().filter_map(|byte| self.view.variable(*byte));
        let mut found: Vec<Variable> = of_call.map(|(variable, _)| variable).collect();
        found.dedup();
        let is_null = |it: &Variable| self.view.inputs[it.input as usize].role == Role::Null;
        found.retain(is_null);
        found
    }

    /// Whether a term looks at nothing but whether pointers are null.
    pub fn is_about_null(&mut self, id: TermId) -> bool {
        let support = self.supports.of(self.terms, id);
        let bytes = self.supports.bytes(support);
        let mut of_call = bytes.iter().filter_map(|byte| self.view.variable(*byte));
        of_call.all(|(it, _)| self.view.inputs[it.input as usize].role == Role::Null)
    }

    /// From now on this holds: ranges become narrower.
    pub fn assume(&mut self, condition: &Condition) {
        match condition {
            Condition::Literal(sum, set) => {
                let ends = (set.intervals().first(), set.intervals().last());
                if let (Some(variable), (Some(first), Some(last))) = (sum.as_variable(), ends) {
                    let (low, high) = self.range(variable);
                    self.narrowed
                        .insert(variable, (low.max(first.0), high.min(last.1)));
                }
            }
            Condition::All(parts) => parts.iter().for_each(|part| self.assume(part)),
            Condition::Any(_) => {}
        }
    }

    fn range(&self, variable: Variable) -> (i128, i128) {
        let narrowed = self.narrowed.get(&variable).copied();
        let (low, high) = narrowed.unwrap_or_else(|| self.view.range(variable));
        // What contradicts itself is never met.
        if low <= high { (low, high) } else { (low, low) }
    }

    /// `sum` in `low..=high`, in words that hold without what was assumed.
    fn between(&self, sum: &Linear, low: Option<i128>, high: Option<i128>) -> Condition {
        let (least, greatest) = sum.range(&|variable| self.range(variable));
        let low = low.filter(|low| *low > least);
        let high = high.filter(|high| *high < greatest);
        if low.is_none() && high.is_none() {
            return Condition::truth(true);
        }
        if low.is_some_and(|low| low > greatest) || high.is_some_and(|high| high < least) {
            return Condition::truth(false);
        }
        Condition::between(sum, low, high, &|variable| self.view.range(variable))
    }

    fn ranges(&self) -> impl Fn(Variable) -> (i128, i128) + '_ {
        |variable| self.view.range(variable)
    }

    fn negated(&self, condition: &Condition) -> Condition {
        let ranges = self.ranges();
        condition.negated(&ranges as Ranges)
    }
}
