//! Lengths less a truth value: `n -= line[n - 1] == '\n'`.
//!
//! What such a sum is depends on a length and on bytes, so an address made of it would be spread over
//! its whole object, and what shorter inputs hold there would not be known. The truth value is
//! decided instead, as if the program had branched on it: its other value is a fork of the
//! path, and on this side of it the sum is a length and a constant.

use nearmiss_abi::event::EventKind;
use nearmiss_abi::op::Op;
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::{CONCRETE, Label};

use super::DEPTH;
use crate::runtime::Runtime;

/// From a truth value to `int`, from there to a size.
const MOST_EXTENSIONS: usize = 3;

impl Runtime {
    /// An address or index with its truth values decided, if what remains depends on lengths only;
    /// else as it is.
    pub fn decide_flags(&mut self, label: Label, site: SiteId) -> Label {
        if label == CONCRETE || self.is_length(label) || !self.is_flagged_length(label, DEPTH) {
            return label;
        }
        self.without_flags(label, site, DEPTH)
    }

    /// match: `n`, `x + c`, `x - c`, `x + flag`, `x - flag`, `ext(x)`
    fn is_flagged_length(&self, label: Label, depth: u32) -> bool {
        if self.is_length(label) {
            return true;
        }
        if label == CONCRETE || depth == 0 {
            return false;
        }
        let term = *self.trace.term(label);
        let is_fixed = |side| self.is_constant(side) || self.is_flag(side);
        match Op::from_code(term.op) {
            Some(Op::Add) if is_fixed(term.a) => self.is_flagged_length(term.b, depth - 1),
            Some(Op::Add | Op::Sub) if is_fixed(term.b) => {
                self.is_flagged_length(term.a, depth - 1)
            }
            Some(Op::ZExt | Op::SExt) => self.is_flagged_length(term.a, depth - 1),
            _ => false,
        }
    }

    fn is_flag(&self, label: Label) -> bool {
        self.truth_within(label).is_some()
    }

    /// The truth value that a number is.
    ///
    /// match: `ext(truth)`, `ext(ext(truth))`
    fn truth_within(&self, label: Label) -> Option<Label> {
        let mut inner = label;
        for _ in 0..MOST_EXTENSIONS {
            let term = *self.trace.term(inner);
            if term.op != Op::ZExt as u8 && term.op != Op::SExt as u8 {
                return None;
            }
            inner = term.a;
            if self.width(inner) == 1 {
                return Some(inner);
            }
        }
        None
    }

    /// The term of [`Runtime::is_flagged_length`] with numbers in place of its flags.
    fn without_flags(&mut self, label: Label, site: SiteId, depth: u32) -> Label {
        if self.is_length(label) || depth == 0 {
            return label;
        }
        let term = *self.trace.term(label);
        let width = term.width as u32;
        match Op::from_code(term.op) {
            Some(Op::ZExt) => {
                let inner = self.without_flags(term.a, site, depth - 1);
                self.zero_extend(inner, width)
            }
            Some(Op::SExt) => {
                let inner = self.without_flags(term.a, site, depth - 1);
                self.sign_extend(inner, width)
            }
            Some(op) => {
                let is_first = self.is_constant(term.a) || self.is_flag(term.a);
                let (fixed, rest) = match is_first && op == Op::Add {
                    true => (term.a, term.b),
                    false => (term.b, term.a),
                };
                self.decide_flag(fixed, site);
                let rest = self.without_flags(rest, site, depth - 1);
                let value = self.value(fixed);
                let added = if op == Op::Sub {
                    value.wrapping_neg()
                } else {
                    value
                };
                self.plus(rest, added)
            }
            None => label,
        }
    }

    /// The path branches on a truth value, once.
    fn decide_flag(&mut self, flag: Label, site: SiteId) {
        let Some(truth) = self.truth_within(flag) else {
            return;
        };
        if self.assumed.is_new(truth) {
            let holds = self.value(truth) != 0;
            self.decided(EventKind::Branch, truth, holds, site);
        }
    }
}
