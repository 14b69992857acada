//! Passes of tests over valuations: a few for each assignment, many for those that seem safe, more where outcomes differ.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use crate::InferError;
use crate::assign::{Feasible, assignment};
use crate::environment::{MAX_BOUNDS, MAX_BYTES};
use crate::inputs::{self, TestCase};
use crate::runner::{Failure, Group};
use crate::separate::{Gap, Mixed};
use crate::study::{Point, Study};
use crate::valuations::{self, Valuation};

/// Of one whose valuations differ.
const MORE_VALUATIONS: usize = 60;
/// Sizes of blocks where the usual ones are all too small.
const LARGER_BOUNDS: [i64; 12] = [16, 24, 32, 33, 48, 64, 65, 128, 256, 257, 1024, 4096];
/// Calls that failed and are made once more, alone.
const CALLS_ALONE: usize = 200;
/// Failing tests of a round whose contents later tests have.
const MAX_TEMPLATES: usize = 24;
/// A larger gap is bisected.
const GAP_VALUES: i64 = 16;
/// Tests of each step of that.
const NARROW_TESTS: usize = 32;
/// Tests that are in memory at the same time.
const BATCH: usize = 60_000;
/// Most tests of one pass over safe assignments.
const MAX_TESTS: usize = 600_000;
/// Most valuations of one pass.
const MANY_VALUATIONS: usize = 12_000;

impl Study<'_> {
    /// So many tests of every assignment, over its valuations, unless one has failed.
    pub(crate) fn test_rows(
        &mut self,
        feasible: &Feasible,
        tests: usize,
    ) -> Result<(), InferError> {
        let mut wanted = Vec::new();
        // Where there are many assignments, few valuations of each tell enough.
        let most = (MANY_VALUATIONS / feasible.rows.len().max(1)).max(3);
        // In any order: where the time ends early, what was tested is no special part.
        let mut rows: Vec<&Vec<Valuation>> = feasible.rows.values().collect();
        self.random.shuffle(&mut rows);
        for valuations in rows {
            let share = tests.div_ceil(valuations.len().clamp(1, most)).max(8);
            let mut fresh = true;
            for values in valuations.iter().take(most) {
                let done = self.points.get(values).map_or(0, |point| point.tests);
                let failed = self
                    .points
                    .get(values)
                    .is_some_and(|point| point.failure.is_some());
                if done < share && !failed {
                    wanted.push((values.clone(), share - done, fresh));
                    fresh = false;
                }
            }
        }
        self.test(&wanted)
    }

    /// As many tests as were asked for, of assignments that no test has failed for.
    pub(crate) fn test_safe_rows(&mut self, feasible: &Feasible) -> Result<(), InferError> {
        let is_safe = |valuations: &Vec<Valuation>| !self.has_failed(valuations);
        let safe: Feasible = Feasible {
            rows: (feasible.rows.iter())
                .filter(|(_, valuations)| is_safe(valuations))
                .map(|(row, valuations)| (row.clone(), valuations.clone()))
                .collect(),
            ..Feasible::default()
        };
        let most = MAX_TESTS / safe.rows.len().max(1);
        self.test_rows(&safe, self.config.tests.min(most))
    }

    pub(crate) fn has_failed(&self, valuations: &[Valuation]) -> bool {
        valuations.iter().any(|values| self.failed(values))
    }

    pub(crate) fn failed(&self, values: &Valuation) -> bool {
        self.points
            .get(values)
            .is_some_and(|point| point.failure.is_some())
    }

    /// Runs tests of valuations; whether a new process is to run them.
    pub(crate) fn test(&mut self, wanted: &[(Valuation, usize, bool)]) -> Result<(), InferError> {
        let mut from = 0;
        while from < wanted.len() && !self.is_over() {
            let mut to = from;
            let mut total = 0;
            while to < wanted.len() && total < BATCH {
                total += wanted[to].1;
                to += 1;
            }
            self.test_batch(&wanted[from..to])?;
            from = to;
        }
        Ok(())
    }

    fn test_batch(&mut self, wanted: &[(Valuation, usize, bool)]) -> Result<(), InferError> {
        let mut groups = Vec::with_capacity(wanted.len());
        for (values, count, fresh) in wanted {
            let tests = (0..*count).map(|_| self.new_test(values)).collect();
            groups.push(Group {
                tests,
                fresh: *fresh,
            });
        }
        let failures = self.runner.run(&groups)?;
        for ((values, count, _), (group, failure)) in
            wanted.iter().zip(groups.into_iter().zip(failures))
        {
            let run = failure.map_or(*count, |failure| failure.test + 1);
            self.tests += run as u64;
            self.progress.tests.store(self.tests, Ordering::Relaxed);
            let sample = group.tests.first().cloned();
            let Some(sample) = sample else { continue };
            let point = self.points.entry(values.clone()).or_insert(Point {
                tests: 0,
                failure: None,
                sample,
            });
            point.tests += run;
            if let Some(failure) = failure.filter(|_| point.failure.is_none()) {
                point.failure = group
                    .tests
                    .get(failure.test)
                    .map(|test| (test.clone(), failure));
            }
        }
        Ok(())
    }

    /// Assignments with both outcomes, after more tests of more valuations.
    pub(crate) fn mixed(&mut self, feasible: &Feasible) -> Result<Vec<Mixed>, InferError> {
        let mut rows: BTreeMap<Vec<bool>, Vec<Valuation>> = (feasible.rows.iter())
            .filter(|(_, valuations)| self.is_mixed(valuations))
            .map(|(row, valuations)| (row.clone(), valuations.clone()))
            .collect();
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        for _ in 0..30_000 {
            let values = valuations::random(&self.environment, &mut self.random);
            let row = rows.get_mut(&assignment(&self.predicates, &values));
            if let Some(row) =
                row.filter(|row| row.len() < MORE_VALUATIONS && !row.contains(&values))
            {
                row.push(values);
            }
        }
        // Contents that made one call fail may make others fail: sizes are to decide, not luck.
        let failing = rows.values().flatten();
        let failing = failing.filter_map(|values| self.points.get(values)?.failure.as_ref());
        let failing: Vec<TestCase> = failing.map(|(test, _)| test.clone()).collect();
        let step = failing.len().div_ceil(MAX_TEMPLATES).max(1);
        self.templates.extend(failing.into_iter().step_by(step));
        self.templates.truncate(4 * MAX_TEMPLATES);
        let enough = self.config.tests.max(256);
        let share = (MAX_TESTS / rows.values().map(Vec::len).sum::<usize>().max(1)).min(enough);
        let mut wanted = Vec::new();
        for values in rows
            .values()
            .flatten()
            .filter(|values| !self.failed(values))
        {
            let done = self.points.get(values).map_or(0, |point| point.tests);
            if done < share {
                wanted.push((values.clone(), share - done, false));
            }
        }
        self.test(&wanted)?;
        let sides = |valuations: &Vec<Valuation>| {
            let (failing, safe) = valuations
                .iter()
                .cloned()
                .partition(|values| self.failed(values));
            Mixed { safe, failing }
        };
        let mixed = rows
            .values()
            .filter(|valuations| self.is_mixed(valuations))
            .map(sides);
        Ok(mixed.collect())
    }

    /// Larger sizes count for blocks of which even the largest are too small in every call; true if there are any.
    pub(crate) fn widen(&mut self) -> Result<bool, InferError> {
        let mut has_more = false;
        for index in 0..self.environment.blocks.len() {
            let block = &self.environment.blocks[index];
            let (bounds, size) = (block.bounds, block.of.size);
            let largest = self.environment.quantities[bounds].range.1;
            let is_full = |values: &Valuation| values[bounds] == largest;
            let is_behind = |point: &Point| {
                let failure = point.failure.as_ref();
                failure.is_some_and(|(_, failure)| {
                    failure.block == Some(index) && failure.distance > 0
                })
            };
            let mut full = self
                .points
                .iter()
                .filter(|(values, _)| is_full(values))
                .map(|(_, point)| point);
            if largest < MAX_BOUNDS || full.clone().count() < 2 || !full.all(is_behind) {
                continue;
            }
            let fits = |count: &i64| *count as u64 * size <= MAX_BYTES;
            let larger: Vec<i64> = LARGER_BOUNDS.iter().copied().filter(fits).collect();
            let mut variables = vec![bounds];
            variables.extend(block.finds.iter().map(|(_, find)| *find));
            for variable in variables {
                has_more |= self.environment.allow(variable, &larger)?;
            }
        }
        Ok(has_more)
    }

    /// Values of a gap that are to be tried: all if there are few, else the two between which the outcome changes, by
    /// bisection over a call of which nothing else is changed.
    pub(crate) fn narrow(&mut self, gap: &Gap, mixed: &[Mixed]) -> Result<Vec<i64>, InferError> {
        let between = gap.safe.min(gap.failing) + 1..gap.safe.max(gap.failing);
        if between.end.saturating_sub(between.start) <= GAP_VALUES {
            return Ok(between.collect());
        }
        let at_end = |values: &&Valuation| values[gap.variable] == gap.failing;
        let Some(call) = mixed.iter().flat_map(|tests| &tests.failing).find(at_end) else {
            return Ok(Vec::new());
        };
        let (mut safe, mut failing) = (gap.safe, gap.failing);
        while safe.abs_diff(failing) > 1 {
            let middle = safe.midpoint(failing);
            let mut values = call.clone();
            values[gap.variable] = middle;
            match self.fails_somewhere(&values)? {
                true => failing = middle,
                false => safe = middle,
            }
        }
        Ok(vec![safe, failing])
    }

    /// Whether a call that failed does not fail alone: what earlier ones left matters.
    pub(crate) fn depends_on_earlier_calls(&mut self) -> Result<bool, InferError> {
        let failures = self
            .points
            .values()
            .filter_map(|point| point.failure.as_ref());
        let alone = |(test, _): &(TestCase, Failure)| Group {
            tests: vec![test.clone()],
            fresh: true,
        };
        let step = (self.points.len() / CALLS_ALONE).max(1);
        let groups: Vec<Group> = failures.step_by(step).map(alone).collect();
        if groups.is_empty() {
            return Ok(false);
        }
        let outcomes = self.runner.run(&groups)?;
        Ok(outcomes.iter().any(Option::is_none))
    }

    /// Whether a test of a valuation fails; nothing is kept.
    pub(crate) fn fails_somewhere(&mut self, values: &Valuation) -> Result<bool, InferError> {
        let tests = (0..NARROW_TESTS).map(|_| self.new_test(values)).collect();
        self.tests += NARROW_TESTS as u64;
        let outcome = self.runner.run(&[Group { tests, fresh: true }])?;
        Ok(outcome.iter().any(Option::is_some))
    }

    /// A test of a valuation. Every third one has contents that an exploration found to matter.
    pub(crate) fn new_test(&mut self, values: &Valuation) -> TestCase {
        let fuzzing = self.config.fuzzing;
        let mut test = inputs::test(&self.environment, values, fuzzing, &mut self.random);
        if !self.templates.is_empty() && self.random.once_in(3) {
            let template = self.random.choose(&self.templates);
            inputs::imitate(&self.environment, values, template, &mut test);
        }
        test
    }

    pub(crate) fn is_mixed(&self, valuations: &[Valuation]) -> bool {
        let failed = valuations
            .iter()
            .filter(|values| self.failed(values))
            .count();
        failed > 0 && failed < valuations.len()
    }
}
