//! The white box: where there is source, the exploration core looks at all paths of the calls that a formula lets
//! through, on small blocks. It finds a call that fails, which is one more test to learn from, or there is none.
//!
//! ```text
//!  tests ─► formula ─► all paths of the calls that it lets through ─► none fails: its assignments are proved
//!             ▲                          │
//!             └── one more failing test ─┘ (run natively first: it counts only if it fails there, too)
//! ```

use std::collections::BTreeSet;
use std::time::Duration;

use nearmiss_contracts::Formula;
use nearmiss_harness::Prototype;
use nearmiss_results::DecidedAssignments;

use crate::assign::{Feasible, assignment};
use crate::condition::Condition;
use crate::environment::Environment;
use crate::evidence::describe;
use crate::exploring::{FailingCall, Outcome, Refutation, Session};
use crate::shorten::Cover;
use crate::study::{Point, Points, Study};
use crate::table::Literal;
use crate::valuations::Valuation;
use crate::wrapper::{self, Numbers};
use crate::{InferError, Origin};

/// How the white box works.
#[derive(Clone, Debug)]
pub struct WhiteBox {
    /// What compiles programs that record.
    pub compiler: nearmiss_compile::Config,
    /// The time of all explorations of a function, without building.
    pub time: Duration,
}

/// Explorations whose failing calls were learnt from.
const LESSONS: usize = 8;
/// Failing calls whose contents later tests have, too.
const TEMPLATES: usize = 24;
/// Explorations of single assignments.
const SINGLE: usize = 64;

/// What is learnt, so that a lesson can be taken back.
struct Saved {
    environment: Environment,
    predicates: Vec<Condition>,
    points: Points,
    found: Vec<Formula>,
}

impl Study<'_> {
    /// Learns from tests and, where there is source, from explorations until one finds nothing more.
    pub(crate) fn decide(
        &mut self,
        prototype: &Prototype,
    ) -> Result<(Cover, Feasible), InferError> {
        let feasible = self.rounds()?;
        let (mut cover, mut feasible) = self.learn(feasible)?;
        let is_source = matches!(self.config.subject.origin, Origin::Source(_));
        let Some(white_box) = self.config.white_box.as_ref().filter(|_| is_source) else {
            return Ok((cover, feasible));
        };
        let mut session = Session {
            prototype,
            white_box,
            left: white_box.time,
            wraps: false,
            decided: DecidedAssignments {
                largest: wrapper::largest(&self.environment),
                ..DecidedAssignments::default()
            },
        };
        for _ in 0..LESSONS {
            let refutation = self.explore_formula(&mut session, &cover, &feasible)?;
            let Some(first) = refutation.calls.first() else {
                break;
            };
            let exception = describe(&self.environment, &first.test);
            let count = refuted(&self.predicates, &refutation.calls);
            match self.lesson(&refutation)? {
                Some(better) => {
                    session.decided.refuted += count;
                    (cover, feasible) = better;
                    // Nothing is known of the new formula yet.
                    session.decided.begin(self.safe_rows(&feasible).len());
                    let why = "the last formula was not explored any more";
                    session.decided.open = Some(why.into());
                }
                None if session.wraps => {
                    session.decided.open = Some(format!("a call fails: {exception}"));
                    break;
                }
                // Contents decide, which no predicate sees.
                None => {
                    session.decided.exceptions.push(exception);
                    session.wraps = true;
                }
            }
        }
        self.decided = Some(session.decided);
        Ok((cover, feasible))
    }

    /// Adds failing calls and learns again. Of overflows: `None`, and nothing has changed, if no predicate tells them
    /// from calls that do not fail, since large elements of an array would make all calls unsafe.
    fn lesson(&mut self, refutation: &Refutation) -> Result<Option<(Cover, Feasible)>, InferError> {
        let saved = Saved {
            environment: self.environment.clone(),
            predicates: self.predicates.clone(),
            points: self.points.clone(),
            found: self.found.clone(),
        };
        let by_contents = self.contents_decide(&refutation.calls)?;
        if by_contents && refutation.is_overflow {
            return Ok(None);
        }
        if by_contents {
            let tests = refutation.calls.iter().map(|call| call.test.clone());
            self.templates.extend(tests.take(TEMPLATES));
        }
        self.add_failing(&refutation.calls)?;
        let feasible = self.rounds()?;
        let is_conflict = |call: &FailingCall| {
            let row = feasible
                .rows
                .get(&assignment(&self.predicates, &call.values));
            row.is_some_and(|valuations| self.is_mixed(valuations))
        };
        if refutation.is_overflow && refutation.calls.iter().any(is_conflict) {
            self.environment = saved.environment;
            self.predicates = saved.predicates;
            self.points = saved.points;
            self.found = saved.found;
            return Ok(None);
        }
        Ok(Some(self.learn(feasible)?))
    }

    /// Whether calls with the same sizes and numbers do not fail on the usual contents.
    fn contents_decide(&mut self, calls: &[FailingCall]) -> Result<bool, InferError> {
        for call in calls.iter().take(TEMPLATES) {
            if !self.fails_somewhere(&call.values)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Each number of a failing call, and those beside it, count from now on.
    fn add_failing(&mut self, calls: &[FailingCall]) -> Result<(), InferError> {
        for FailingCall {
            values,
            test,
            failure,
        } in calls
        {
            let point = self.points.entry(values.clone()).or_insert(Point {
                tests: 0,
                failure: None,
                sample: test.clone(),
            });
            point.tests += 1;
            point.failure.get_or_insert((test.clone(), *failure));
            let numbers: Vec<usize> = self
                .environment
                .numbers
                .iter()
                .map(|n| n.variable)
                .collect();
            for (number, variable) in numbers.into_iter().enumerate() {
                let (low, high) = self.environment.numbers[number].limits();
                let value = values[variable];
                let beside = [value.saturating_sub(1), value, value.saturating_add(1)];
                let within: Vec<i64> = beside
                    .into_iter()
                    .filter(|v| (low..=high).contains(v))
                    .collect();
                self.environment.allow(variable, &within)?;
            }
        }
        Ok(())
    }

    /// Explores the calls that a formula lets through, with small numbers, then with any. Gives back calls that fail.
    fn explore_formula(
        &mut self,
        session: &mut Session<'_>,
        cover: &Cover,
        feasible: &Feasible,
    ) -> Result<Refutation, InferError> {
        let formula = cover.formula(&self.predicates);
        let safe = self.safe_rows(feasible);
        session.decided.begin(safe.len());
        if formula == Formula::truth(false) {
            return Ok(Refutation::default());
        }
        let condition = self.environment.condition(&formula)?;
        // Assignments that the formula has, and that small blocks can have.
        let within = |numbers: Numbers, study: &Self| {
            let fits = |row: &&Vec<bool>| study.is_small(&feasible.rows[*row], numbers);
            let safe = safe.iter().filter(|row| cover.lets_through(row));
            safe.filter(|row| fits(row)).count()
        };
        for numbers in self.numbers() {
            self.progress.enter("exploring");
            match self.explore(session, &condition, numbers)? {
                Outcome::Proved => {
                    let is_any = numbers == Numbers::Any;
                    session.decided.prove(within(numbers, self), is_any);
                }
                Outcome::Refuted(calls) => return Ok(calls),
                Outcome::Open(why) if session.decided.proved > 0 => {
                    session.decided.open = Some(why);
                    return Ok(Refutation::default());
                }
                Outcome::Open(why) => {
                    session.decided.open = Some(why);
                    let rows = safe.iter().filter(|row| cover.lets_through(row));
                    let rows: Vec<Vec<bool>> = rows.map(|row| (*row).clone()).collect();
                    return self.explore_rows(session, &rows, feasible);
                }
            }
        }
        Ok(Refutation::default())
    }

    /// Assignments of which no test has failed.
    fn safe_rows<'f>(&self, feasible: &'f Feasible) -> Vec<&'f Vec<bool>> {
        let rows = feasible.rows.iter();
        rows.filter(|(_, valuations)| !self.has_failed(valuations))
            .map(|(row, _)| row)
            .collect()
    }

    /// Small numbers first: these are decided soon. Where there is no number to choose, once is enough.
    fn numbers(&self) -> Vec<Numbers> {
        let is_free = |variable: usize| !self.environment.quantities[variable].others.is_empty();
        match self
            .environment
            .numbers
            .iter()
            .any(|number| is_free(number.variable))
        {
            true => vec![Numbers::Small, Numbers::Any],
            false => vec![Numbers::Any],
        }
    }

    /// Assignment by assignment, while there is time.
    fn explore_rows(
        &mut self,
        session: &mut Session<'_>,
        rows: &[Vec<bool>],
        feasible: &Feasible,
    ) -> Result<Refutation, InferError> {
        let small: Vec<&Vec<bool>> = rows
            .iter()
            .filter(|row| self.is_small(&feasible.rows[*row], Numbers::Small))
            .collect();
        for row in small.into_iter().take(SINGLE) {
            if session.left.is_zero() || self.is_over() {
                break;
            }
            let literals = row.iter().enumerate();
            let literals = literals.map(|(predicate, holds)| Literal {
                predicate,
                holds: *holds,
            });
            let alone = Cover {
                cubes: vec![literals.collect()],
                of_safe: true,
            };
            let condition = self
                .environment
                .condition(&alone.formula(&self.predicates))?;
            match self.explore(session, &condition, Numbers::Small)? {
                Outcome::Proved => session.decided.prove(session.decided.proved + 1, false),
                Outcome::Refuted(calls) => return Ok(calls),
                Outcome::Open(_) => {}
            }
        }
        Ok(Refutation::default())
    }

    /// Whether an exploration with blocks and numbers of its sizes has calls of an assignment.
    fn is_small(&self, valuations: &[Valuation], numbers: Numbers) -> bool {
        let environment = &self.environment;
        let largest = wrapper::largest(environment);
        let (low, high) = wrapper::SMALL;
        let is_explored = |variable: usize, value: i64| {
            let is_restricted = environment.quantities[variable].others.is_empty();
            numbers == Numbers::Any || is_restricted || (low..=high).contains(&value)
        };
        let fits = |values: &Valuation| {
            let mut blocks = environment.blocks.iter();
            let mut numbers = environment.numbers.iter().map(|number| number.variable);
            blocks.all(|block| values[block.bounds] <= largest)
                && numbers.all(|variable| is_explored(variable, values[variable]))
        };
        valuations.iter().any(fits)
    }
}

/// How many assignments calls have.
fn refuted(predicates: &[Condition], calls: &[FailingCall]) -> usize {
    let rows: BTreeSet<Vec<bool>> = calls
        .iter()
        .map(|call| assignment(predicates, &call.values))
        .collect();
    rows.len()
}
