//! The nearest length that will do, where [`nearness`](nearmiss_judge::nearness) says what is near.

use nearmiss_abi::op::Op;
use nearmiss_expr::{InputByte, TermId, Terms};
use nearmiss_solve::{Answer, Deadline, Limits, Model, Session};

use super::{Length, Resize, resize_cost};

/// The search for the nearest length may take as long as so many queries.
const SHARE: u32 = 4;

/// A search for the answer to a goal that is nearest to the recorded input.
pub struct Search<'s, 'a> {
    session: &'s mut Session<'a>,
    goal: TermId,
    lengths: Vec<&'s Length>,
    limits: Limits,
    deadline: Deadline,
}

impl<'s, 'a> Search<'s, 'a> {
    /// One with these limits for each of its queries. The goal may depend on these lengths.
    pub fn new(
        session: &'s mut Session<'a>,
        goal: TermId,
        lengths: Vec<&'s Length>,
        limits: Limits,
    ) -> Search<'s, 'a> {
        Search {
            session,
            goal,
            lengths,
            limits,
            deadline: limits.times(SHARE).deadline(),
        }
    }

    /// The nearest answer, given that `first` is one.
    pub fn find(&mut self, terms: &mut Terms, first: Model) -> Model {
        let same_lengths = self.with_recorded_lengths(terms);
        if same_lengths.as_ref().is_some_and(|model| model.len() <= 1) {
            return same_lengths.unwrap_or(first);
        }
        let other_lengths = self.with_recorded_bytes(terms);
        match (same_lengths, other_lengths) {
            (Some(same), Some(other)) if same.len() as u64 <= self.resizing(&other) => same,
            (_, Some(other)) => other,
            (Some(same), None) => same,
            (None, None) => self.with_both(terms, first),
        }
    }

    /// The nearest answer with all lengths as they were.
    fn with_recorded_lengths(&mut self, terms: &mut Terms) -> Option<Model> {
        let mut goal = self.goal;
        for length in &self.lengths {
            let recorded = terms.constant(32, length.piece.length.into());
            let same = terms.eq(length.term, recorded);
            goal = terms.and(goal, same);
        }
        self.ask_nearest(terms, goal)
    }

    /// The nearest answer with other lengths, and all other bytes as they were.
    fn with_recorded_bytes(&mut self, terms: &mut Terms) -> Option<Model> {
        let slice = self.session.slice(terms, self.goal);
        let recorded = self.session.recorded();
        let is_length = |byte: &InputByte| {
            let mut numbers = self.lengths.iter().map(|length| length.number);
            numbers.any(|number| number == byte.channel)
        };
        let others = slice.bytes.iter().filter(|byte| !is_length(byte));
        let mut fixed: Vec<(InputByte, u8)> =
            others.map(|&byte| (byte, recorded.byte(byte))).collect();
        let mut model = self.ask_with(terms, self.goal, &fixed)?;
        for length in self.lengths.clone() {
            // Perhaps it need not change.
            let as_recorded = length.fixed_to(length.piece.length);
            let with_this: Vec<_> = fixed.iter().copied().chain(as_recorded).collect();
            if length.in_model(&model) != length.piece.length
                && let Some(nearer) = self.ask_with(terms, self.goal, &with_this)
            {
                model = nearer;
            }
            model = self.bisect(terms, length, &fixed, model);
            fixed.extend(length.fixed_to(length.in_model(&model)));
        }
        Some(model)
    }

    /// Other lengths and other bytes: near, but not always the nearest.
    fn with_both(&mut self, terms: &mut Terms, first: Model) -> Model {
        let mut model = self.ask_nearest(terms, self.goal).unwrap_or(first);
        let mut goal = self.goal;
        for length in self.lengths.clone() {
            model = self.bisect(terms, length, &[], model);
            let found = terms.constant(32, length.in_model(&model).into());
            let as_found = terms.eq(length.term, found);
            goal = terms.and(goal, as_found);
        }
        self.ask_nearest(terms, goal).unwrap_or(model)
    }

    /// Brings one length as near to the recorded one as it can be.
    fn bisect(
        &mut self,
        terms: &mut Terms,
        length: &Length,
        fixed: &[(InputByte, u8)],
        mut model: Model,
    ) -> Model {
        let recorded = length.piece.length;
        let goes_up = length.in_model(&model) > recorded;
        let mut too_near = 0;
        loop {
            let distance = length.in_model(&model).abs_diff(recorded);
            if distance <= too_near + 1 || self.deadline.is_over() {
                return model;
            }
            let tried = too_near + (distance - too_near) / 2;
            let nearer = self.nearer(terms, length, goes_up, tried);
            match self.ask_with(terms, nearer, fixed) {
                Some(found) => model = found,
                None => too_near = tried,
            }
        }
    }

    /// The goal, with a length at most so far from the recorded one.
    fn nearer(&self, terms: &mut Terms, length: &Length, goes_up: bool, most: u32) -> TermId {
        let recorded = length.piece.length;
        let (low, high) = if goes_up {
            (recorded, recorded.saturating_add(most))
        } else {
            (recorded.saturating_sub(most), recorded)
        };
        let (low, high) = (
            terms.constant(32, low.into()),
            terms.constant(32, high.into()),
        );
        let above = terms.binary(Op::Ule, low, length.term);
        let below = terms.binary(Op::Ule, length.term, high);
        let between = terms.and(above, below);
        terms.and(self.goal, between)
    }

    /// What the lengths of an answer cost.
    fn resizing(&self, model: &Model) -> u64 {
        let resize = |length: &&Length| Resize {
            piece: length.piece,
            to: length.in_model(model),
        };
        let resizes = self.lengths.iter().map(resize);
        let changed = resizes.filter(|one| one.distance() > 0);
        changed.map(|one| resize_cost(&one)).sum()
    }

    fn limits(&self) -> Limits {
        Limits {
            time: self.limits.time.min(self.deadline.left()),
            ..self.limits
        }
    }

    fn ask_with(
        &mut self,
        terms: &mut Terms,
        goal: TermId,
        fixed: &[(InputByte, u8)],
    ) -> Option<Model> {
        let limits = self.limits();
        let reply = self.session.query_with(terms, goal, fixed, &limits);
        match reply.answer {
            Answer::Sat(model) => Some(model.changes(self.session.recorded())),
            _ => None,
        }
    }

    fn ask_nearest(&mut self, terms: &mut Terms, goal: TermId) -> Option<Model> {
        let limits = self.limits();
        match self.session.query_nearest(terms, goal, &limits).answer {
            Answer::Sat(model) => Some(model),
            _ => None,
        }
    }
}
