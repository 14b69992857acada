//! Each requirement on both sides: a call outside of it that fails, and one inside that does not.

use nearmiss_contracts::{Attribute, Formula, Term};

use super::given::Values;
use super::sample::{Sample, Search, parts};
use super::trial::{Outcome, Trials};

/// Calls on each side that are made for one requirement.
const MOST_CALLS: usize = 3;

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
    /// Not both sides: why.
    Open(String),
}

impl<'a> Shower<'_, 'a> {
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
            return Evidence::Open(why);
        };
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

    /// The values of a formula's terms.
    fn said(&self, formula: &Formula, sample: &Sample) -> String {
        let terms = self.search().values;
        let one = |term: &&Term| {
            let value = terms.value(term, &sample.given)?;
            let is_pointer = |it: &&crate::inputs::Input| {
                it.role == crate::inputs::Role::Null && it.place == term.place
            };
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
