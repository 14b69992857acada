//! Bits and remainders: what comparisons cannot say of a number, `(flags & 8) != 0` or `n % 4 == 0`. Masks and divisors
//! of the code, and macros of a header that are one bit, become predicates where they make a difference: in calls that
//! differ in these bits or remainders of one number alone, and that no predicate tells apart. What differs must do so
//! again a period later: else it is a limit that lies there.

use std::collections::BTreeSet;

use nearmiss_contracts::{Comparison, Formula};

use crate::InferError;
use crate::assign::{Feasible, assignment};
use crate::environment::NumberPlace;
use crate::runner::Group;
use crate::study::Study;
use crate::subject::Origin;
use crate::valuations::{Valuation, is_consistent};

/// What code does with a number before it compares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pattern {
    /// `x & mask`
    Mask(i64),
    /// `x % divisor`
    Divisor(i64),
}

/// Calls in which a number is replaced.
const CALLS: usize = 24;
/// Tests of each.
const TESTS: usize = 8;
/// Most bits or remainders of a pattern that are tried.
const MOST_PARTS: i64 = 16;
/// Most calls that are made.
const MOST_CALLS: usize = 6000;
/// Most predicates that come of it.
const MOST: usize = 6;
/// Numbers from here on are greater than all sizes of tests and their sums.
const BEYOND: i64 = 1 << 10;

/// Calls that differ in a part of one number only.
struct Probe {
    variable: usize,
    pattern: Pattern,
    parts: Vec<i64>,
    /// One for each part, and the same of numbers that are larger by a period.
    calls: Vec<Valuation>,
}

impl Pattern {
    /// The parts of a number that it tells apart; the first few if they are many.
    fn parts(self) -> Vec<i64> {
        match self {
            Pattern::Divisor(divisor) => (0..divisor.min(MOST_PARTS)).collect(),
            Pattern::Mask(mask) => {
                let within = (0..=mask.min(1 << 12)).filter(|part| part & !mask == 0);
                let mut parts: Vec<i64> = within.take(MOST_PARTS as usize - 1).collect();
                parts.push(mask);
                parts.dedup();
                parts
            }
        }
    }

    /// A number with this part instead of its own.
    fn with(self, number: i64, part: i64) -> i64 {
        match self {
            Pattern::Mask(mask) => (number & !mask) | part,
            Pattern::Divisor(divisor) => number - number.rem_euclid(divisor) + part,
        }
    }

    /// Numbers that are so far apart have the same part.
    fn period(self) -> i64 {
        match self {
            Pattern::Mask(mask) => 2 << mask.ilog2(),
            Pattern::Divisor(divisor) => divisor,
        }
    }

    fn formula(self, number: Formula) -> Formula {
        match self {
            Pattern::Mask(mask) => {
                Formula::BitAnd(Box::new(number), Box::new(Formula::Number(mask)))
            }
            Pattern::Divisor(divisor) => {
                Formula::Remainder(Box::new(number), Box::new(Formula::Number(divisor)))
            }
        }
    }
}

impl Study<'_> {
    /// Adds predicates for bits and remainders that make a difference; true if there are any.
    pub(crate) fn try_patterns(&mut self, feasible: &Feasible) -> Result<bool, InferError> {
        let probes = self.pattern_probes(feasible)?;
        let mut groups = Vec::new();
        for values in probes.iter().flat_map(|probe| &probe.calls) {
            let tests = (0..TESTS).map(|_| self.new_test(values)).collect();
            groups.push(Group { tests, fresh: true });
        }
        if groups.is_empty() {
            return Ok(false);
        }
        let outcomes = self.runner.run(&groups)?;
        self.tests += (groups.len() * TESTS) as u64;
        let mut outcomes = outcomes.iter().map(Option::is_some);
        let known = self.predicates.len();
        for probe in &probes {
            let failed: Vec<bool> = outcomes.by_ref().take(probe.calls.len()).collect();
            let (failed, later) = failed.split_at(probe.parts.len());
            if failed != later {
                continue;
            }
            for (comparison, part) in differences(&probe.parts, failed) {
                self.add_pattern(probe, comparison, part)?;
            }
        }
        Ok(self.predicates.len() > known)
    }

    fn add_pattern(
        &mut self,
        probe: &Probe,
        comparison: Comparison,
        part: i64,
    ) -> Result<(), InferError> {
        let number = Formula::Term(self.environment.quantities[probe.variable].term.clone());
        let left = probe.pattern.formula(number);
        let formula = Formula::compare(comparison, left, Formula::Number(part));
        let added = self.predicates.len() - self.usual;
        if added >= MOST || !self.is_new(&formula) {
            return Ok(());
        }
        let values: Vec<i64> = probe
            .calls
            .iter()
            .map(|call| call[probe.variable])
            .collect();
        self.environment.allow(probe.variable, &values)?;
        self.predicates.push(self.environment.condition(&formula)?);
        self.found.push(formula);
        Ok(())
    }

    fn pattern_probes(&self, feasible: &Feasible) -> Result<Vec<Probe>, InferError> {
        let step = (feasible.rows.len() / CALLS).max(1);
        let calls: Vec<&Valuation> = (feasible.rows.values().step_by(step))
            .filter_map(|valuations| valuations.first())
            .collect();
        let is_header = matches!(self.config.subject.origin, Origin::Header(_));
        // What is only guessed is tried where something is not explained.
        let is_open = feasible.rows.values().any(|row| self.is_mixed(row));
        let is_guess = |pattern: &&Pattern| is_header && matches!(pattern, Pattern::Divisor(_));
        let patterns = self.patterns.iter();
        let patterns: Vec<Pattern> = patterns
            .filter(|pattern| is_open || !is_guess(pattern))
            .copied()
            .collect();
        let mut probes = Vec::new();
        let mut count = 0;
        for number in &self.environment.numbers {
            let is_restricted = self.environment.quantities[number.variable]
                .others
                .is_empty();
            // A header's flags are no sizes.
            if is_restricted || (is_header && number.bytes > 4) || !number.constants.is_empty() {
                continue;
            }
            for pattern in &patterns {
                for call in &calls {
                    for probe in self.probes_of(number, *pattern, call)? {
                        count += probe.calls.len();
                        if count > MOST_CALLS {
                            return Ok(probes);
                        }
                        probes.push(probe);
                    }
                }
            }
        }
        Ok(probes)
    }

    /// The call with other parts of a number, around its own value and around large ones.
    fn probes_of(
        &self,
        number: &NumberPlace,
        pattern: Pattern,
        call: &Valuation,
    ) -> Result<Vec<Probe>, InferError> {
        let parts = pattern.parts();
        let (low, high) = number.limits();
        let mut probes: Vec<Probe> = Vec::new();
        for base in self.bases(call[number.variable]) {
            let starts = [base, base + pattern.period()];
            let values: Vec<i64> = (starts.iter())
                .flat_map(|start| parts.iter().map(|part| pattern.with(*start, *part)))
                .collect();
            if values.iter().any(|value| !(low..=high).contains(value)) {
                continue;
            }
            let mut wider = self.environment.clone();
            wider.allow(number.variable, &values)?;
            let with = |value: &i64| {
                let mut changed = call.clone();
                changed[number.variable] = *value;
                changed
            };
            let calls: Vec<Valuation> = values.iter().map(with).collect();
            let row = assignment(&self.predicates, &calls[0]);
            let alike = calls.iter().all(|values| {
                assignment(&self.predicates, values) == row && is_consistent(&wider, values)
            });
            let is_known = probes.iter().any(|probe| probe.calls == calls);
            if alike && !is_known {
                probes.push(Probe {
                    variable: number.variable,
                    pattern,
                    parts: parts.clone(),
                    calls,
                });
            }
        }
        Ok(probes)
    }

    /// Numbers whose other bits stay as they are: the call's own, a large one, and all flags.
    fn bases(&self, own: i64) -> BTreeSet<i64> {
        let masks = self.patterns.iter().map(|pattern| match pattern {
            Pattern::Mask(mask) => *mask,
            Pattern::Divisor(_) => 0,
        });
        let all = masks.fold(0, |all, mask| all | mask);
        let beyond = BEYOND.max(all.unsigned_abs().next_power_of_two() as i64);
        BTreeSet::from([own, all, 2 * beyond, 2 * beyond + all])
    }
}

/// The comparisons with a part that tell outcomes apart.
fn differences(parts: &[i64], failed: &[bool]) -> Vec<(Comparison, i64)> {
    let of = |outcome: bool| -> Vec<i64> {
        let both = parts.iter().zip(failed);
        let with = both.filter(|(_, failed)| **failed == outcome);
        with.map(|(part, _)| *part).collect()
    };
    let (failing, safe) = (of(true), of(false));
    let fewer = if failing.len() <= safe.len() {
        &failing
    } else {
        &safe
    };
    let changes = failed.windows(2).filter(|pair| pair[0] != pair[1]).count();
    match (fewer.len(), changes) {
        (0, _) => Vec::new(),
        // `(flags & 8) == 0`: one of two.
        (1, _) if parts.len() == 2 => vec![(Comparison::Equal, 0)],
        (1, _) => vec![(Comparison::Equal, fewer[0])],
        (_, 1) => {
            let first = failed.iter().position(|outcome| *outcome != failed[0]);
            vec![(Comparison::Less, first.map_or(0, |index| parts[index]))]
        }
        (2 | 3, _) => fewer
            .iter()
            .map(|part| (Comparison::Equal, *part))
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_numbers() {
        assert_eq!(Pattern::Mask(8).parts(), [0, 8]);
        assert_eq!(Pattern::Mask(5).parts(), [0, 1, 4, 5]);
        assert_eq!(Pattern::Mask(1 << 20).parts(), [0, 1 << 20]);
        assert_eq!(Pattern::Divisor(3).parts(), [0, 1, 2]);
        assert_eq!(Pattern::Mask(5).with(15, 4), 14);
        assert_eq!(Pattern::Divisor(4).with(-1, 1), -3);
        assert_eq!(Pattern::Mask(5).period(), 8);
        assert_eq!(Pattern::Mask(5).with(15 + 8, 4), 14 + 8);
    }

    #[test]
    fn what_outcomes_differ_in() {
        use Comparison::{Equal, Less};
        assert_eq!(differences(&[0, 8], &[false, true]), [(Equal, 0)]);
        assert_eq!(differences(&[0, 8], &[true, true]), []);
        let three = [0, 1, 2, 3];
        assert_eq!(
            differences(&three, &[true, true, false, true]),
            [(Equal, 2)]
        );
        assert_eq!(
            differences(&three, &[true, true, false, false]),
            [(Less, 2)]
        );
    }
}
