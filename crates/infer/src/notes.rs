//! What limits or withdraws a claim: what all tests have in common, and what they showed beside the formula.

use nearmiss_harness::{Prototype, Shape};

use crate::environment::MAX_BOUNDS;
use crate::stubs;
use crate::study::{Point, Study};

impl Study<'_> {
    /// All of it; so many assignments are safe, and so many of them are not in the formula.
    pub(crate) fn notes(&self, prototype: &Prototype, safe: usize, left_out: usize) -> Vec<String> {
        let mut notes = self.common_to_all(prototype);
        if left_out > 0 {
            notes.push(format!(
                "{left_out} of {safe} safe assignments are left out: no short formula has all of them"
            ));
        }
        if self.has_state {
            notes.push(
                "some calls fail only after others, and count as failing: static variables, or what a stub gave back"
                    .into(),
            );
        }
        let has_proof = self
            .decided
            .as_ref()
            .is_some_and(|decided| decided.proved > 0);
        for bound in self.proof_bounds.iter().filter(|_| has_proof) {
            notes.push(format!("proved only within this bound: {bound}"));
        }
        if self.is_over() {
            notes.push("stopped before all tests were made: --time gives more".into());
        }
        if safe == 0 {
            notes.push("no call was safe".into());
        }
        let below = |point: &Point| {
            let failure = point.failure.as_ref();
            failure.is_some_and(|(_, failure)| failure.block.is_some() && failure.distance < 0)
        };
        if !self.config.wishes.before && self.points.values().any(below) {
            notes.push(
                "some calls touch bytes before a pointer: --before makes their number a variable"
                    .into(),
            );
        }
        notes
    }

    /// What is so in every test.
    fn common_to_all(&self, prototype: &Prototype) -> Vec<String> {
        let mut notes = stubs::notes(prototype, &self.environment);
        let floats = prototype.parameters.iter();
        for parameter in floats.filter(|p| matches!(p.shape, Shape::Float(_))) {
            notes.push(format!("{} is 0 in every test", parameter.name));
        }
        for (place, of) in &self.environment.opaque {
            notes.push(format!(
                "{place} is NULL in every test: what a {of} is, is not known here"
            ));
        }
        for block in &self.environment.blocks {
            let place = &block.place;
            if block.of.spelled.ends_with('*') {
                notes.push(format!("the elements of {place} are NULL in every test"));
            }
            if let Some(most) = self.environment.quantities[block.bounds].others.last() {
                notes.push(format!(
                    "{MAX_BOUNDS} elements of {place} are not enough: some sizes up to {most} were tried as well"
                ));
            }
        }
        let restrict: Vec<&str> = (self.environment.blocks.iter())
            .filter(|block| block.of.is_restrict)
            .map(|block| block.place.as_str())
            .collect();
        if restrict.len() > 1 {
            notes.push(format!(
                "{} do not overlap: they are declared restrict",
                restrict.join(" and ")
            ));
        }
        notes
    }
}
