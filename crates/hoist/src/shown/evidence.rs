//! Each requirement on both sides: a call outside of it that fails, and one inside that does not.

use nearmiss_contracts::{Attribute, Formula, Term};

use super::given::{Values, bytes_of};
use super::sample::{Sample, Search, parts};
use super::trial::{Outcome, Trials};
use crate::inputs::{Input, Role};

/// Calls on each side that are made for one requirement.
const MOST_CALLS: usize = 3;
/// Numbers that may be why a call fails.
const MOST_NUMBERS: usize = 4;
/// Elements that are added where there may have been too few.
const MORE_ROOM: i128 = 64;

/// Shows requirements of one function.
pub struct Shower<'t, 'a> {
    /// The calls.
    pub trials: &'t mut Trials<'a>,
    /// Requirements that are known: calls that are made keep to them.
    pub accepted: Vec<Formula>,
}

/// What was seen of a requirement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Both sides: in words.
    Shown(String),
    /// A call that violates it does not fail.
    Refuted,
    /// A call that violates it fails, and no safe one was found: why.
    Open(String),
    /// No call that violates it was seen to fail: why.
    Unseen(String),
}

impl<'a> Shower<'_, 'a> {
    /// Whether calls can be made at all, as far as there is time: what cannot be tried is not said to be untrue.
    pub fn can_make_calls(&mut self) -> bool {
        let Some(given) = self.trials.calls.first().cloned() else {
            return false;
        };
        let outcome = self.trials.run(&Sample { call: 0, given });
        let is_over = self.trials.left == 0 || self.trials.clock.is_over();
        is_over || !matches!(outcome, Outcome::Unknown(_))
    }

    /// Looks for calls near those of the tests.
    pub fn search(&self) -> Search<'a> {
        Search {
            values: Values {
                inputs: self.trials.inputs,
            },
            calls: self.trials.calls,
            clock: self.trials.clock,
        }
    }

    /// Whether no call of the tests violates a formula, and one at least tells.
    pub fn is_kept_to(&self, formula: &Formula) -> bool {
        let search = self.search();
        let holds = |given| search.values.holds(formula, given);
        let all: Vec<Option<bool>> = search.calls.iter().map(holds).collect();
        all.contains(&Some(true)) && !all.contains(&Some(false))
    }

    /// Shows a requirement; the other ones hold in all calls that are made for that.
    pub fn show(&mut self, formula: &Formula, others: &[Formula]) -> Evidence {
        let mut samples = self.search().outside(&parts(formula), others);
        let mut others = others;
        // What is behind a null pointer violates what is required of it.
        if samples.is_empty() {
            others = &[];
            samples = self.search().outside(&parts(formula), others);
        }
        let mut why = String::from("no call of the tests is near it");
        let mut failing = None;
        for sample in samples.iter().take(MOST_CALLS) {
            match self.trials.run(sample) {
                Outcome::Fails(place) => {
                    failing = Some((sample, place));
                    break;
                }
                Outcome::Safe => return Evidence::Refuted,
                Outcome::Unknown(reason) => why = reason,
            }
        }
        let Some((sample, place)) = failing else {
            return Evidence::Unseen(why);
        };
        let mut others_like_it = self.refilled(formula, others, sample);
        others_like_it.extend(self.with_room(formula, others, sample));
        others_like_it.extend(self.with_other_numbers(formula, others, sample));
        if (others_like_it.iter()).any(|it| self.trials.run(it) == Outcome::Safe) {
            return Evidence::Refuted;
        }
        let fails = format!("fails at {place} for {}", self.said(formula, sample));
        let inside = self.search().inside(formula, others, sample);
        for near in inside.iter().take(MOST_CALLS) {
            if self.trials.run(near) == Outcome::Safe {
                return Evidence::Shown(format!("{fails}; safe for {}", self.said(formula, near)));
            }
        }
        // The tests' own call, as it is.
        let own = Sample {
            call: sample.call,
            given: self.trials.calls[sample.call].clone(),
        };
        match self.trials.run(&own) {
            Outcome::Safe => {
                let values = self.said(formula, &own);
                Evidence::Shown(format!("{fails}; safe for {values} (a call of the tests)"))
            }
            _ => Evidence::Open(format!("{fails}; no safe call near it was found")),
        }
    }

    /// A call that violates a formula, with more elements before and behind pointers of which it says nothing of the kind. If
    /// that does not fail, the formula has a number of the tests, whose memory was only so large.
    fn with_room(&self, formula: &Formula, others: &[Formula], sample: &Sample) -> Option<Sample> {
        let values = self.search().values;
        let has_numbers = |place: &str| {
            let mut inputs = values.inputs.iter();
            inputs.any(|it| it.role == Role::Elements && it.place == place)
        };
        let is_said = |term: &Term| {
            let is_same = |it: &&Term| match it.attribute {
                Attribute::Find(_) => term.attribute == Attribute::Bounds && it.place == term.place,
                _ => *it == term,
            };
            formula.terms().iter().any(is_same)
        };
        let mut roomy = sample.clone();
        for input in values.inputs {
            let attribute = match input.role {
                Role::Bounds => Attribute::Bounds,
                Role::Before => Attribute::Before,
                _ => continue,
            };
            let place = input.place.clone();
            let term = Term { attribute, place };
            // A structure that lies elsewhere may be another one to the program.
            if has_numbers(&input.place) && !is_said(&term) {
                let room = values.value(&term, &roomy.given);
                // To tests that begin where an object does, nothing is before it.
                let room = room.filter(|it| input.role == Role::Bounds || *it > 0);
                let _ = room.is_some_and(|it| values.set(&mut roomy.given, &term, it + MORE_ROOM));
            }
        }
        (roomy != *sample && self.is_outside(formula, others, &roomy)).then_some(roomy)
    }

    /// A call that violates a formula, with other numbers in what pointers lead to: those on which the function decides.
    fn refilled(&self, formula: &Formula, others: &[Formula], sample: &Sample) -> Vec<Sample> {
        let values = self.search().values;
        let mut found: Vec<Sample> = Vec::new();
        for filler in self.trials.fillers {
            let mut filled = sample.clone();
            for (number, input) in values.inputs.iter().enumerate() {
                if input.role != Role::Elements {
                    continue;
                }
                let mut next = filled.clone();
                let bytes = next.given.get_mut(&(number as u32));
                let elements = bytes
                    .into_iter()
                    .flat_map(|it| it.chunks_exact_mut(input.bytes as usize));
                elements.for_each(|it| it.copy_from_slice(&bytes_of(*filler, input.bytes)));
                if self.is_outside(formula, others, &next) {
                    filled = next;
                }
            }
            if filled != *sample && !found.contains(&filled) {
                found.push(filled);
            }
        }
        found
    }

    /// A call that violates a formula, with each number of which that says nothing as small as can be: `size` may be why the
    /// call fails, where all calls of the tests have one that is large enough.
    fn with_other_numbers(
        &self,
        formula: &Formula,
        others: &[Formula],
        sample: &Sample,
    ) -> Vec<Sample> {
        let values = self.search().values;
        let numbers = values.inputs.iter().filter(|it| it.role == Role::Value);
        let terms = numbers.map(|input| Term {
            attribute: Attribute::Value,
            place: input.place.clone(),
        });
        let said = formula.terms();
        let mut found = Vec::new();
        for term in terms.filter(|it| !said.contains(&it)).take(MOST_NUMBERS) {
            for number in [0, 1] {
                let mut other = sample.clone();
                let is_set = values.set(&mut other.given, &term, number);
                if is_set && other != *sample && self.is_outside(formula, others, &other) {
                    found.push(other);
                }
            }
        }
        found
    }

    fn is_outside(&self, formula: &Formula, others: &[Formula], sample: &Sample) -> bool {
        let values = self.search().values;
        let is_kept = |it: &Formula| values.holds(it, &sample.given) != Some(false);
        values.holds(formula, &sample.given) == Some(false) && others.iter().all(is_kept)
    }

    /// The values of a formula's terms.
    fn said(&self, formula: &Formula, sample: &Sample) -> String {
        let terms = self.search().values;
        let one = |term: &&Term| {
            let value = terms.value(term, &sample.given)?;
            let is_pointer = |it: &&Input| it.role == Role::Null && it.place == term.place;
            let is_pointer = terms.inputs.iter().any(|it| is_pointer(&it));
            let name = Formula::Term((*term).clone());
            Some(match (term.attribute, is_pointer, value) {
                (Attribute::Value, true, 0) => format!("{name} == NULL"),
                (Attribute::Value, true, _) => format!("{name} != NULL"),
                _ => format!("{name} == {value}"),
            })
        };
        let all: Vec<String> = formula.terms().iter().filter_map(one).collect();
        all.join(", ")
    }
}
