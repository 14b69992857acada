//! Answers as close to the recorded input as can be.
//!
//! First one changed byte is tried, for every byte of the goal: a change elsewhere cannot make
//! the goal true. If that is not enough, the solver's model is brought nearer: changed bytes
//! are reverted as long as the others can make up for it. What is left is minimal: no proper
//! part of the changed bytes suffices, whatever their values. Last, among values that do as
//! well, a printable and a numerically close one is preferred.

use std::cmp::Reverse;

use nearmiss_expr::{Evaluator, InputByte, Inputs, TermId, Terms};

use crate::query::{Answer, Effort, Layer, Model, Reply};
use crate::session::Session;
use crate::slice::Slice;

/// How many terms may be evaluated to try out values, for each of the two purposes.
const EVALUATIONS: usize = 2_000_000;
/// How many single bytes the solver is queried about where there are too many terms to try.
const SINGLE_BYTE_QUERIES: usize = 64;

/// How near an answer is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nearness {
    /// As near as can be found, by more queries.
    Nearest,
    /// What evaluation alone can bring back.
    Near,
}

/// The reply to a query, with a model of changed bytes only, and the layer that found the first.
pub(crate) fn find(
    session: &mut Session<'_>,
    terms: &mut Terms,
    slice: &Slice,
    goal_bytes: &[InputByte],
    (goal, nearness): (TermId, Nearness),
    effort: Effort,
) -> Reply {
    // Also decides cheaply what cannot be at all, and whether the recorded input will do.
    let mut reply = session.query_slice(terms, slice, goal, &[], effort);
    let Answer::Sat(model) = &reply.answer else {
        return reply;
    };
    let first = model.changes(session.recorded());
    // One byte was found by evaluation, the best value first.
    if first.is_empty() || reply.layer == Layer::OneByte {
        reply.answer = Answer::Sat(first);
        return reply;
    }
    let mut search = Search {
        recorded: session.recorded(),
        session,
        slice,
        goal,
        effort,
        evaluator: Evaluator::new(),
        goal_cone: cone_size(terms, &[], goal),
        cone: cone_size(terms, &slice.constraints, goal),
    };
    let nearest = match nearness {
        Nearness::Nearest => search
            .one_byte(terms, goal_bytes, &first)
            .unwrap_or_else(|| search.fewest_bytes(terms, first)),
        Nearness::Near => search.reverted(terms, first),
    };
    reply.answer = Answer::Sat(search.nicest_values(terms, nearest));
    reply
}

struct Search<'s, 'a> {
    session: &'s mut Session<'a>,
    recorded: &'a dyn Inputs,
    slice: &'s Slice,
    goal: TermId,
    effort: Effort,
    evaluator: Evaluator,
    /// How many terms the goal consists of: what is evaluated of a wrong model.
    goal_cone: usize,
    /// How many terms goal and slice consist of.
    cone: usize,
}

impl Search<'_, '_> {
    /// A model that changes one byte.
    fn one_byte(&mut self, terms: &mut Terms, bytes: &[InputByte], known: &Model) -> Option<Model> {
        // Those that the solver has changed are more likely to be the ones.
        let mut bytes = bytes.to_vec();
        bytes.sort_by_key(|&byte| (Reverse(known.get(byte).is_some()), byte));
        if self.goal_cone * bytes.len() * 255 <= EVALUATIONS {
            return bytes.into_iter().find_map(|byte| {
                let value = self.best_value(terms, &Model::new(), byte)?;
                Some(Model::from_iter([(byte, value)]))
            });
        }
        if known.len() == 1 {
            return Some(known.clone());
        }
        bytes.truncate(SINGLE_BYTE_QUERIES);
        let mut singles = bytes.into_iter();
        singles.find_map(|byte| self.query_changing(terms, &[byte]))
    }

    /// The best value of a byte beside the other changes of a model, by evaluation. Recorded
    /// values are not tried.
    fn best_value(&mut self, terms: &Terms, others: &Model, byte: InputByte) -> Option<u8> {
        let mut model = others.clone();
        by_preference(self.recorded.byte(byte)).find(|&value| {
            model.set(byte, value);
            self.is_answer(terms, &model)
        })
    }

    /// A model of which no proper part of the bytes suffices.
    fn fewest_bytes(&mut self, terms: &mut Terms, mut model: Model) -> Model {
        self.revert(terms, &mut model);
        let mut needed = 0;
        loop {
            // Bytes before `needed` were found to be: that stays so when others are reverted.
            let bytes: Vec<InputByte> = model.iter().map(|(byte, _)| byte).collect();
            if needed >= bytes.len() || self.is_late() {
                return model;
            }
            match self.query_without(terms, &bytes, needed) {
                Some(nearer) => {
                    model = nearer;
                    self.revert(terms, &mut model);
                }
                None => needed += 1,
            }
        }
    }

    /// A model without the bytes that can be reverted alone.
    fn reverted(&mut self, terms: &Terms, mut model: Model) -> Model {
        self.revert(terms, &mut model);
        model
    }

    /// Reverts every byte that can be reverted alone, by evaluation.
    fn revert(&mut self, terms: &Terms, model: &mut Model) {
        let bytes: Vec<InputByte> = model.iter().map(|(byte, _)| byte).collect();
        let affordable = EVALUATIONS / self.cone.max(1);
        for byte in bytes.into_iter().take(affordable) {
            if self.is_late() {
                return;
            }
            let without: Model = model.iter().filter(|&(other, _)| other != byte).collect();
            if self.is_answer(terms, &without) {
                *model = without;
            }
        }
    }

    /// A model that changes at most `bytes` but for the one at a position.
    fn query_without(
        &mut self,
        terms: &mut Terms,
        bytes: &[InputByte],
        position: usize,
    ) -> Option<Model> {
        let mut others = bytes.to_vec();
        others.remove(position);
        self.query_changing(terms, &others)
    }

    /// A model that changes at most these bytes, which are in ascending order.
    fn query_changing(&mut self, terms: &mut Terms, bytes: &[InputByte]) -> Option<Model> {
        if self.is_late() {
            return None;
        }
        let unchanged = self.slice.bytes.iter();
        let fixed: Vec<(InputByte, u8)> = unchanged
            .filter(|byte| bytes.binary_search(byte).is_err())
            .map(|&byte| (byte, self.recorded.byte(byte)))
            .collect();
        let reply = (self.session).query_slice(terms, self.slice, self.goal, &fixed, self.effort);
        match reply.answer {
            Answer::Sat(model) => Some(model.changes(self.recorded)),
            _ => None,
        }
    }

    /// The same bytes, with better values where evaluation finds some.
    fn nicest_values(&mut self, terms: &Terms, mut model: Model) -> Model {
        if self.cone * model.len() * 255 > EVALUATIONS {
            return model;
        }
        for (byte, _) in model.clone().iter() {
            if let Some(value) = self.best_value(terms, &model, byte) {
                model.set(byte, value);
            }
        }
        model
    }

    fn is_late(&self) -> bool {
        self.effort.deadline.is_over()
    }

    /// Whether a model makes goal and slice true, by evaluation.
    fn is_answer(&mut self, terms: &Terms, model: &Model) -> bool {
        let input = model.over(self.recorded);
        let evaluator = &mut self.evaluator;
        evaluator.reset();
        evaluator.holds(terms, &input, self.goal)
            && self
                .slice
                .constraints
                .iter()
                .all(|&constraint| evaluator.holds(terms, &input, constraint))
    }
}

/// How many terms a query consists of; no more are counted than could be evaluated.
fn cone_size(terms: &Terms, constraints: &[TermId], goal: TermId) -> usize {
    let mut seen = vec![false; terms.len()];
    let mut stack = constraints.to_vec();
    stack.push(goal);
    let mut count = 0;
    while let Some(top) = stack.pop()
        && count <= EVALUATIONS
    {
        if !std::mem::replace(&mut seen[top.index()], true) {
            count += 1;
            stack.extend(terms.operands(top));
        }
    }
    count
}

/// All values but the recorded one: printable ones first where that was printable, then those
/// that are numerically close.
pub(crate) fn by_preference(recorded: u8) -> impl Iterator<Item = u8> {
    let is_printable = |value: u8| matches!(value, b' '..=b'~');
    let mut values: Vec<u8> = (0..=255).filter(|&value| value != recorded).collect();
    values.sort_by_key(|&value| {
        let spoils = is_printable(recorded) && !is_printable(value);
        (spoils, value.abs_diff(recorded), value)
    });
    values.into_iter()
}
