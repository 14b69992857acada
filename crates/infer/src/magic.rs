//! Magic numbers: constants of the code or the header become predicates where they make a difference. Each is tried as
//! the value of each number, beside its neighbours, in calls that no predicate tells apart.

use nearmiss_contracts::{Comparison, Formula};

use crate::InferError;
use crate::assign::{Feasible, assignment};
use crate::runner::Group;
use crate::study::Study;
use crate::subject::Origin;
use crate::valuations::{Valuation, is_consistent};

/// Calls in which a number is replaced.
const CALLS: usize = 24;
/// Tests of each.
const TESTS: usize = 8;
/// Most predicates that come of it.
const MOST: usize = 6;

/// A constant as the value of a number in one call, and the numbers beside it.
struct Probe {
    variable: usize,
    constant: i64,
    calls: [Valuation; 3],
}

impl Study<'_> {
    /// Adds predicates for constants that make a difference; true if there are any.
    pub(crate) fn try_constants(&mut self, feasible: &Feasible) -> Result<bool, InferError> {
        let probes = self.probes(feasible)?;
        let mut groups = Vec::with_capacity(3 * probes.len());
        for values in probes.iter().flat_map(|probe| &probe.calls) {
            let tests = (0..TESTS).map(|_| self.new_test(values)).collect();
            groups.push(Group { tests, fresh: true });
        }
        if groups.is_empty() {
            return Ok(false);
        }
        let failed: Vec<bool> = self
            .runner
            .run(&groups)?
            .iter()
            .map(Option::is_some)
            .collect();
        self.tests += (groups.len() * TESTS) as u64;
        let known = self.predicates.len();
        for (probe, failed) in probes.iter().zip(failed.chunks(3)) {
            for comparison in differences(failed) {
                self.add_magic(probe, comparison)?;
            }
        }
        Ok(self.predicates.len() > known)
    }

    fn add_magic(&mut self, probe: &Probe, comparison: Comparison) -> Result<(), InferError> {
        let added = self.predicates.len() - self.usual;
        let term = Formula::Term(self.environment.quantities[probe.variable].term.clone());
        let formula = Formula::compare(comparison, term, Formula::Number(probe.constant));
        if added >= MOST || !self.is_new(&formula) {
            return Ok(());
        }
        let beside = probe.calls.clone().map(|values| values[probe.variable]);
        self.environment.allow(probe.variable, &beside)?;
        self.predicates.push(self.environment.condition(&formula)?);
        self.found.push(formula);
        Ok(())
    }

    /// What is tried: only calls that no predicate tells apart.
    fn probes(&self, feasible: &Feasible) -> Result<Vec<Probe>, InferError> {
        let step = (feasible.rows.len() / CALLS).max(1);
        let calls: Vec<&Valuation> = (feasible.rows.values().step_by(step))
            .filter_map(|valuations| valuations.first())
            .collect();
        let mut probes = Vec::new();
        for (index, number) in self.environment.numbers.iter().enumerate() {
            let quantity = &self.environment.quantities[number.variable];
            // What the user restricts has its values.
            if quantity.others.is_empty() {
                continue;
            }
            let constants = self.constants_of(index);
            let mut wider = self.environment.clone();
            let beside: Vec<i64> = constants.iter().flat_map(|c| [c - 1, *c, c + 1]).collect();
            let (low, high) = number.limits();
            let fits = |value: &i64| (low..=high).contains(value);
            wider.allow(
                number.variable,
                &beside.into_iter().filter(fits).collect::<Vec<i64>>(),
            )?;
            for constant in constants {
                for call in &calls {
                    let with = |value: i64| {
                        let mut values = (*call).clone();
                        values[number.variable] = value;
                        values
                    };
                    let calls = [with(constant - 1), with(constant), with(constant + 1)];
                    let row = assignment(&self.predicates, &calls[1]);
                    let alike = calls.iter().all(|values| {
                        assignment(&self.predicates, values) == row && is_consistent(&wider, values)
                    });
                    if alike {
                        probes.push(Probe {
                            variable: number.variable,
                            constant,
                            calls,
                        });
                    }
                }
            }
        }
        Ok(probes)
    }

    /// The constants that a number may have to do with: those of the code; of a header's only where the number is no size.
    fn constants_of(&self, index: usize) -> Vec<i64> {
        let number = &self.environment.numbers[index];
        let is_size = number.bytes > 4;
        let is_header = matches!(self.config.subject.origin, Origin::Header(_));
        let mut constants = match is_header && is_size {
            true => Vec::new(),
            false => self.constants.clone(),
        };
        constants.extend(&number.constants);
        constants.sort_unstable();
        constants.dedup();
        constants
    }
}

/// The comparisons with a constant that tell three outcomes apart: of the number before it, itself, and the next one.
fn differences(failed: &[bool]) -> Vec<Comparison> {
    match failed {
        [before, at, after] if before != at && at != after => vec![Comparison::Equal],
        [before, at, _] if before != at => vec![Comparison::Less],
        [_, at, after] if at != after => vec![Comparison::LessEqual],
        _ => Vec::new(),
    }
}
