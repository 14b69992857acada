//! Which bytes of an event's condition must be there for the event to happen as it did.
//!
//! All of them, but those behind a choice by the length of an input ([`TERM_CHOSEN`]): which of
//! these the program looked at depends on the length, and each only where the input has it.

use nearmiss_abi::op::Op;
use nearmiss_abi::term::{Label, TERM_CHOSEN};
use nearmiss_expr::InputByte;

use crate::raw::RawTrace;

/// The bytes that events bind, where these are not all of their conditions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bindings(Vec<Vec<InputByte>>);

impl Bindings {
    /// The bytes that an event binds; `None`: all of its condition.
    pub fn get(&self, binding: Option<u32>) -> Option<&[InputByte]> {
        let bytes = self.0.get(binding? as usize);
        bytes.map(Vec::as_slice)
    }
}

/// Finds the bindings of a trace's events.
pub(crate) struct Binder<'a> {
    raw: &'a RawTrace,
    numbers: &'a [u32],
    /// Whether a label is a choice or made of one.
    chooses: Vec<bool>,
    pub bindings: Bindings,
}

impl<'a> Binder<'a> {
    /// For the first `usable` terms of a trace; `numbers` says what terms call each channel.
    pub fn new(raw: &'a RawTrace, usable: usize, numbers: &'a [u32]) -> Binder<'a> {
        let is_choice = |label: usize| raw.terms[label].flags & TERM_CHOSEN != 0;
        let mut chooses = Vec::new();
        if (1..usable).any(is_choice) {
            chooses.resize(usable, false);
        }
        for label in 1..chooses.len() {
            let made_of_one = operands(raw, label as Label);
            chooses[label] =
                is_choice(label) || made_of_one.iter().any(|part| chooses[*part as usize]);
        }
        Binder {
            raw,
            numbers,
            chooses,
            bindings: Bindings::default(),
        }
    }

    /// What an event about a term binds, as [`Bindings::get`] wants to be asked.
    pub fn bind(&mut self, label: Label) -> Option<u32> {
        if self.chooses.get(label as usize) != Some(&true) {
            return None;
        }
        let mut bytes = self.bytes(label);
        bytes.sort_unstable();
        self.bindings.0.push(bytes);
        Some(self.bindings.0.len() as u32 - 1)
    }

    fn bytes(&self, label: Label) -> Vec<InputByte> {
        let mut bytes = Vec::new();
        let mut seen = std::collections::HashSet::new();
        let mut open = vec![label];
        while let Some(label) = open.pop() {
            if !seen.insert(label) {
                continue;
            }
            let term = &self.raw.terms[label as usize];
            if term.op == Op::Input as u8 {
                bytes.push(InputByte {
                    channel: self.numbers[term.a as usize],
                    offset: term.b,
                });
            } else if term.flags & TERM_CHOSEN != 0 {
                open.push(term.a);
            } else {
                open.extend(operands(self.raw, label));
            }
        }
        bytes
    }
}

/// The labels that a term is made of.
fn operands(raw: &RawTrace, label: Label) -> Vec<Label> {
    let term = &raw.terms[label as usize];
    let arity = Op::from_code(term.op).map_or(0, Op::arity);
    [term.a, term.b, term.c][..arity].to_vec()
}
