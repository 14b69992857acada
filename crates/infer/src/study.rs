//! All of it, in rounds: assignments, tests, predicates that tests suggest; then the formula.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use nearmiss_contracts::Formula;
use nearmiss_harness::Prototype;
use nearmiss_results::{DecidedAssignments, PreconditionReport};

use crate::assign::{self, Feasible, Reach};
use crate::condition::Condition;
use crate::constants;
use crate::environment::Environment;
use crate::inputs::TestCase;
use crate::patterns::Pattern;
use crate::predicates::predicates;
use crate::random::Random;
use crate::refusals;
use crate::runner::{Failure, Runner};
use crate::separate;
use crate::shorten::{Cover, covers, pruned};
use crate::subject::Origin;
use crate::table::Table;
use crate::valuations::Valuation;
use crate::{InferConfig, InferError};

/// How far the work has come, for a display.
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
/// Tests of an assignment in the first pass.
const FIRST_TESTS: usize = 96;
/// Rounds in which predicates are added.
const ROUNDS: usize = 9;
/// A longer formula is pruned.
const MAX_LITERALS: usize = 14;
/// Formulas that are compared with the shortest where not all assignments are known.
const RIVALS: usize = 40;

/// What is known of one function.
pub struct Study<'a> {
    pub(crate) config: &'a InferConfig,
    pub(crate) progress: &'a Progress,
    pub(crate) environment: Environment,
    pub(crate) predicates: Vec<Condition>,
    pub(crate) runner: Runner,
    pub(crate) random: Random,
    pub(crate) points: Points,
    pub(crate) found: Vec<Formula>,
    pub(crate) tests: u64,
    /// Numbers of the code or of the header.
    pub(crate) constants: Vec<i64>,
    /// Masks and divisors of the code, bits of the header.
    pub(crate) patterns: Vec<Pattern>,
    /// Whether the code divides by what is no constant.
    pub(crate) has_remainders: bool,
    /// How many predicates there were at first.
    pub(crate) usual: usize,
    /// Failing calls of explorations: contents that matter.
    pub(crate) templates: Vec<TestCase>,
    /// Whether some calls fail only after others.
    pub(crate) has_state: bool,
    /// Within which bounds they did: `malloc` answers as it does here.
    pub(crate) proof_bounds: Vec<String>,
    /// What explorations decided.
    pub(crate) decided: Option<DecidedAssignments>,
    pub(crate) deadline: Instant,
}

/// Infers the precondition of one function; `specification` is what it is compared with, `makers` are functions that make
/// what it is given.
pub fn infer(
    config: &InferConfig,
    prototype: &Prototype,
    makers: &[String],
    specification: Option<&Formula>,
    progress: &Progress,
) -> Result<PreconditionReport, InferError> {
    let start = Instant::now();
    progress.enter("building");
    let is_header = matches!(config.subject.origin, Origin::Header(_));
    if let Some(why) = refusals::refusal(&prototype.function).filter(|_| is_header) {
        return Err(InferError::Unsupported(format!("not called: {why}")));
    }
    let constants = constants::constants(&config.subject, &prototype.function, &config.directory);
    let mut environment = Environment::new(prototype, &config.wishes)?;
    if !is_header {
        environment.dictionary = constants::bytes(&constants.numbers);
    }
    if let Some((place, of)) = environment.opaque.first()
        && is_header
        && !config.wishes.opaque
    {
        let why = format!(
            "{place} leads to a {of}, which only the library knows: --opaque makes it NULL in all calls"
        );
        return Err(InferError::Opaque(why));
    }
    let predicates = predicates(&environment, &config.wishes.magic, &config.predicates)?;
    let runner = Runner::build(
        &config.subject,
        prototype,
        &environment,
        &config.sandbox,
        &config.directory,
    )?;
    let usual = predicates.len();
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
        constants: constants.numbers,
        patterns: constants.patterns,
        has_remainders: constants.has_remainders,
        usual,
        templates: Vec::new(),
        has_state: false,
        proof_bounds: Vec::new(),
        decided: None,
        deadline: Instant::now() + config.time,
    };
    if is_header
        && !config.wishes.opaque
        && !makers.is_empty()
        && let Some(index) = study.larger_inside()?
    {
        let block = &study.environment.blocks[index];
        let why = format!(
            "{} leads to more than the {} that is declared: calls touch bytes behind it; --opaque makes them all the same",
            block.place, block.of.spelled
        );
        return Err(InferError::Opaque(why));
    }
    let (cover, feasible) = study.decide(prototype)?;
    study.has_state = study.depends_on_earlier_calls()?;
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
    pub(crate) fn rounds(&mut self) -> Result<Feasible, InferError> {
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
            if round > ROUNDS || self.is_over() || !self.add_predicate(&feasible, round)? {
                return Ok(feasible);
            }
        }
    }

    /// Adds what tests suggest: a predicate, or values that are to be tried before one is believed. False if nothing.
    fn add_predicate(&mut self, feasible: &Feasible, round: usize) -> Result<bool, InferError> {
        if round == 1 && self.widen()? {
            return Ok(true);
        }
        if round <= 2 && (self.try_patterns(feasible)? || self.try_constants(feasible)?) {
            return Ok(true);
        }
        if !self.config.linear {
            return Ok(false);
        }
        let mixed = self.mixed(feasible)?;
        let suggested = separate::separate(&self.environment, &mixed, self.has_remainders);
        let Some(separation) = suggested.filter(|found| self.is_new(&found.formula)) else {
            return Ok(false);
        };
        if let Some(gap) = separation.gap {
            let values = self.narrow(&gap, &mixed)?;
            if self.environment.allow(gap.variable, &values)? {
                return Ok(true);
            }
        }
        let formula = separation.formula;
        self.predicates.push(self.environment.condition(&formula)?);
        self.found.push(formula);
        Ok(true)
    }

    pub(crate) fn is_new(&self, formula: &Formula) -> bool {
        self.predicates
            .iter()
            .all(|known| known.formula != *formula)
    }

    fn find(&mut self) -> Feasible {
        // Tests need time, too.
        let left = self.deadline.saturating_duration_since(Instant::now());
        let reach = Reach {
            assignments: self.config.assignments,
            valuations: VALUATIONS,
            deadline: Instant::now() + left / 3,
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
    pub(crate) fn learn(
        &mut self,
        mut feasible: Feasible,
    ) -> Result<(Cover, Feasible), InferError> {
        self.progress.enter("learning");
        let mut tried = 0;
        loop {
            let table = self.table(&feasible);
            if table.len() == 0 {
                let why = "there was no time for a test: --time gives more".to_string();
                return Err(InferError::Runner(why));
            }
            let found = covers(&table, &mut self.random);
            let best = found[0].clone();
            if best.size() > MAX_LITERALS {
                return Ok((pruned(&table, &mut self.random), feasible));
            }
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
