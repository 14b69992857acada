//! All of it, in rounds: assignments, tests, predicates that tests suggest; then the formula.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use nearmiss_contracts::Formula;
use nearmiss_harness::Prototype;
use nearmiss_results::PreconditionReport;

use crate::assign::{self, Feasible, Reach, assignment};
use crate::condition::Condition;
use crate::environment::Environment;
use crate::inputs::{self, TestCase};
use crate::predicates::predicates;
use crate::random::Random;
use crate::runner::{Failure, Group, Runner};
use crate::separate::{self, Mixed};
use crate::shorten::{Cover, covers};
use crate::table::Table;
use crate::valuations::{self, Valuation};
use crate::{InferConfig, InferError};

/// How far the work has come, for those who watch it.
#[derive(Debug, Default)]
pub struct Progress {
    phase: Mutex<String>,
    /// Tests that were run.
    pub tests: AtomicU64,
    /// Assignments that are known.
    pub assignments: AtomicU64,
}

impl Progress {
    /// What is being done.
    pub fn phase(&self) -> String {
        self.phase
            .lock()
            .map_or(String::new(), |phase| phase.clone())
    }

    /// Says what is being done.
    pub fn enter(&self, phase: &str) {
        if let Ok(mut now) = self.phase.lock() {
            *now = phase.to_string();
        }
    }
}

/// What the tests of a valuation have shown.
#[derive(Clone, Debug)]
pub struct Point {
    /// How many were run.
    pub tests: usize,
    /// The first that failed.
    pub failure: Option<(TestCase, Failure)>,
    /// One of them.
    pub sample: TestCase,
}

/// All valuations that were tested.
pub type Points = BTreeMap<Valuation, Point>;

/// Valuations of an assignment.
const VALUATIONS: usize = 12;
/// Of one whose valuations differ.
const MORE_VALUATIONS: usize = 60;
/// Tests of an assignment in the first pass.
const FIRST_TESTS: usize = 96;
/// Rounds in which predicates are added.
const ROUNDS: usize = 9;
/// Tests that are in memory at the same time.
const BATCH: usize = 60_000;
/// Most tests of one pass over safe assignments.
const MAX_TESTS: usize = 2_000_000;
/// Formulas that are compared with the shortest where not all assignments are known.
const RIVALS: usize = 40;

/// What is known of one function.
pub struct Study<'a> {
    pub(crate) config: &'a InferConfig,
    progress: &'a Progress,
    pub(crate) environment: Environment,
    pub(crate) predicates: Vec<Condition>,
    runner: Runner,
    random: Random,
    pub(crate) points: Points,
    pub(crate) found: Vec<Formula>,
    pub(crate) tests: u64,
    deadline: Instant,
}

/// Infers the precondition of one function; `specification` is what it is compared with.
pub fn infer(
    config: &InferConfig,
    prototype: &Prototype,
    specification: Option<&Formula>,
    progress: &Progress,
) -> Result<PreconditionReport, InferError> {
    let start = Instant::now();
    progress.enter("building");
    let environment = Environment::new(prototype, &config.wishes)?;
    let predicates = predicates(&environment, &config.wishes.magic, &config.predicates)?;
    let runner = Runner::build(
        &config.subject,
        prototype,
        &environment,
        &config.sandbox,
        &config.directory,
    )?;
    let mut study = Study {
        config,
        progress,
        environment,
        predicates,
        runner,
        random: Random::new(config.seed),
        points: BTreeMap::new(),
        found: Vec::new(),
        tests: 0,
        deadline: Instant::now() + config.time,
    };
    let feasible = study.rounds()?;
    let (cover, feasible) = study.learn(feasible)?;
    let mut report = study.report(prototype, &cover, &feasible)?;
    if let Some(specification) = specification {
        let formula = cover.formula(&study.predicates);
        let relation = crate::compare::compare(&study.environment, &formula, specification)?;
        report.relation = Some(relation.name().into());
    }
    report.seconds = start.elapsed().as_secs_f64();
    Ok(report)
}

impl Study<'_> {
    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.deadline || self.config.stop.load(Ordering::Relaxed)
    }

    /// Finds assignments, tests them, and adds predicates while tests suggest some.
    fn rounds(&mut self) -> Result<Feasible, InferError> {
        let mut round = 0;
        loop {
            self.progress.enter("enumerating");
            let feasible = self.find();
            self.progress
                .assignments
                .store(feasible.rows.len() as u64, Ordering::Relaxed);
            self.progress.enter("testing");
            self.test_rows(&feasible, FIRST_TESTS)?;
            self.test_safe_rows(&feasible)?;
            round += 1;
            if !self.config.linear || round > ROUNDS || self.is_over() {
                return Ok(feasible);
            }
            let mixed = self.mixed(&feasible)?;
            let suggested = separate::separate(&self.environment, &mixed);
            let Some(separation) = suggested.filter(|found| self.is_new(&found.formula)) else {
                return Ok(feasible);
            };
            if let Some((variable, values)) = separation.gap
                && self.environment.allow(variable, &values)?
            {
                continue;
            }
            let formula = separation.formula;
            self.predicates.push(self.environment.condition(&formula)?);
            self.found.push(formula);
        }
    }

    fn is_new(&self, formula: &Formula) -> bool {
        self.predicates
            .iter()
            .all(|known| known.formula != *formula)
    }

    fn find(&mut self) -> Feasible {
        let reach = Reach {
            assignments: self.config.assignments,
            valuations: VALUATIONS,
            deadline: self.deadline,
        };
        let known: Vec<Valuation> = self.points.keys().cloned().collect();
        let random = &mut self.random;
        assign::find(
            &self.environment,
            &self.predicates,
            known.into_iter(),
            &reach,
            random,
        )
    }

    /// So many tests of every assignment, over its valuations, unless one has failed.
    fn test_rows(&mut self, feasible: &Feasible, tests: usize) -> Result<(), InferError> {
        let mut wanted = Vec::new();
        for valuations in feasible.rows.values() {
            let share = tests.div_ceil(valuations.len().max(1)).max(8);
            let mut fresh = true;
            for values in valuations {
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
    fn test_safe_rows(&mut self, feasible: &Feasible) -> Result<(), InferError> {
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
    fn test(&mut self, wanted: &[(Valuation, usize, bool)]) -> Result<(), InferError> {
        let mut from = 0;
        while from < wanted.len() && !self.config.stop.load(Ordering::Relaxed) {
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
            let test = |_| {
                inputs::test(
                    &self.environment,
                    values,
                    self.config.fuzzing,
                    &mut self.random,
                )
            };
            groups.push(Group {
                tests: (0..*count).map(test).collect(),
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
    fn mixed(&mut self, feasible: &Feasible) -> Result<Vec<Mixed>, InferError> {
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

    pub(crate) fn is_mixed(&self, valuations: &[Valuation]) -> bool {
        let failed = valuations
            .iter()
            .filter(|values| self.failed(values))
            .count();
        failed > 0 && failed < valuations.len()
    }

    fn table(&self, feasible: &Feasible) -> Table {
        let rows: Vec<(&[bool], bool)> = (feasible.rows.iter())
            .filter(|(_, valuations)| {
                valuations
                    .iter()
                    .any(|values| self.points.contains_key(values))
            })
            .map(|(row, valuations)| (row.as_slice(), !self.has_failed(valuations)))
            .collect();
        Table::new(self.predicates.len(), &rows)
    }

    /// The shortest formula found. Where not all assignments are known, those on which others differ from it are tested.
    fn learn(&mut self, mut feasible: Feasible) -> Result<(Cover, Feasible), InferError> {
        self.progress.enter("learning");
        let mut tried = 0;
        loop {
            let table = self.table(&feasible);
            let found = covers(&table, &mut self.random);
            let best = found[0].clone();
            if feasible.complete || tried >= RIVALS || self.is_over() {
                return Ok((best, feasible));
            }
            let first = self
                .environment
                .condition(&best.formula(&self.predicates))?;
            let mut asked = Vec::new();
            for rival in found.iter().skip(1).take(RIVALS / 2) {
                let rival = self
                    .environment
                    .condition(&rival.formula(&self.predicates))?;
                let random = &mut self.random;
                asked.extend(assign::difference(
                    &self.environment,
                    &first,
                    &rival,
                    random,
                ));
            }
            tried += asked.len().max(1);
            asked.sort();
            asked.dedup();
            let wanted: Vec<(Valuation, usize, bool)> = asked
                .iter()
                .map(|values| (values.clone(), self.config.tests.max(256), true))
                .collect();
            self.test(&wanted)?;
            let known = feasible.rows.len();
            for values in asked {
                feasible.add(&self.predicates, values, usize::MAX);
            }
            if feasible.rows.len() == known {
                return Ok((best, feasible));
            }
        }
    }
}
