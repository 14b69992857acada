//! Which assignments are feasible: by direct sampling first, then by the solver, which also knows when all are known.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use nearmiss_expr::{InputByte, TermId, Terms};
use nearmiss_solve::Limits;
use nearmiss_solve::assignments::{Assigned, Assignments, Sampled};

use crate::condition::{self, Condition};
use crate::environment::Environment;
use crate::random::Random;
use crate::valuations::{self, Valuation};

/// Feasible assignments, each with valuations.
#[derive(Clone, Debug, Default)]
pub struct Feasible {
    pub rows: BTreeMap<Vec<bool>, Vec<Valuation>>,
    /// Whether these are all.
    pub complete: bool,
    /// Assignments that the propositional solver proposed.
    pub proposed: u64,
}

/// How many, and until when.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    /// Most assignments.
    pub assignments: usize,
    /// Valuations of each.
    pub valuations: usize,
    pub deadline: Instant,
}

/// Directly chosen valuations in a row that gave nothing new: then the solver goes on.
const PATIENCE: usize = 4000;
/// The time of one step of the solver.
const STEP: Duration = Duration::from_secs(5);

/// The assignment of a valuation.
pub fn assignment(predicates: &[Condition], values: &[i64]) -> Vec<bool> {
    predicates
        .iter()
        .map(|predicate| predicate.holds(values))
        .collect()
}

impl Feasible {
    /// Adds a valuation; true if its assignment is new.
    pub fn add(&mut self, predicates: &[Condition], values: Valuation, most: usize) -> bool {
        let row = self
            .rows
            .entry(assignment(predicates, &values))
            .or_default();
        let is_new = row.is_empty();
        if row.len() < most && !row.contains(&values) {
            row.push(values);
        }
        is_new
    }
}

/// Finds assignments; `known` has valuations that were tested already.
pub fn find(
    environment: &Environment,
    predicates: &[Condition],
    known: impl Iterator<Item = Valuation>,
    reach: &Reach,
    random: &mut Random,
) -> Feasible {
    let mut feasible = Feasible::default();
    for values in known {
        feasible.add(predicates, values, usize::MAX);
    }
    directly(environment, predicates, reach, random, &mut feasible);
    let Some(mut solver) = solver(environment, predicates) else {
        return feasible;
    };
    feasible.rows.keys().for_each(|row| solver.block(row));
    by_solver(
        environment,
        predicates,
        reach,
        random,
        &mut feasible,
        &mut solver,
    );
    more_valuations(
        environment,
        predicates,
        reach,
        random,
        &mut feasible,
        &mut solver,
    );
    feasible.proposed = solver.figures.proposed;
    feasible
}

fn directly(
    environment: &Environment,
    predicates: &[Condition],
    reach: &Reach,
    random: &mut Random,
    feasible: &mut Feasible,
) {
    // Half is left for the solver where there are too many: what is chosen directly is not uniform.
    let most = reach.assignments / 2;
    let mut misses = 0;
    while misses < PATIENCE && feasible.rows.len() < most && Instant::now() < reach.deadline {
        let values = valuations::random(environment, random);
        debug_assert!(
            valuations::is_consistent(environment, &values),
            "{values:?}"
        );
        if feasible.add(predicates, values, reach.valuations) {
            misses = 0;
        } else {
            misses += 1;
        }
    }
}

fn by_solver(
    environment: &Environment,
    predicates: &[Condition],
    reach: &Reach,
    random: &mut Random,
    feasible: &mut Feasible,
    solver: &mut Assignments,
) {
    let mut cuts = 0;
    // Uniform samples while there may be too many of them.
    let half = reach.assignments / 2;
    while feasible.rows.len() >= half && feasible.rows.len() < reach.assignments {
        if Instant::now() >= reach.deadline {
            return;
        }
        match solver.sample(cuts, &mut || random.number()) {
            Sampled::TooMany => cuts += 1,
            Sampled::Unknown => return,
            Sampled::Cell(cell) => {
                if cell.len() < 8 && cuts > 0 {
                    cuts -= 1;
                }
                let before = feasible.rows.len();
                for (row, model) in cell {
                    let values = valuations::of_model(environment, &model);
                    if feasible.add(predicates, values, reach.valuations) {
                        solver.block(&row);
                    }
                }
                // Few are left: all of them are asked for.
                if feasible.rows.len() == before {
                    break;
                }
            }
        }
    }
    while feasible.rows.len() < reach.assignments && Instant::now() < reach.deadline {
        match solver.step(&mut || random.number()) {
            Assigned::Feasible(_, model) => {
                let values = valuations::of_model(environment, &model);
                feasible.add(predicates, values, reach.valuations);
            }
            Assigned::Exhausted => {
                feasible.complete = true;
                return;
            }
            Assigned::Unknown => return,
        }
    }
}

/// More valuations of assignments that have few.
fn more_valuations(
    environment: &Environment,
    predicates: &[Condition],
    reach: &Reach,
    random: &mut Random,
    feasible: &mut Feasible,
    solver: &mut Assignments,
) {
    let poor: Vec<Vec<bool>> = feasible
        .rows
        .iter()
        .filter(|(_, valuations)| valuations.len() < 3)
        .map(|(row, _)| row.clone())
        .collect();
    for row in poor {
        for _ in 0..3 {
            if Instant::now() >= reach.deadline {
                return;
            }
            if let Some(model) = solver.another_input(&row, &mut || random.number()) {
                let values = valuations::of_model(environment, &model);
                feasible.add(predicates, values, reach.valuations);
            }
        }
    }
}

/// The solver's view of an environment and predicates.
fn solver(environment: &Environment, predicates: &[Condition]) -> Option<Assignments> {
    let mut terms = Terms::new();
    let mut term = |condition: &Condition| condition.term(&mut terms);
    let consistent: Vec<TermId> = environment.consistency.iter().map(&mut term).collect();
    let predicates: Vec<TermId> = predicates.iter().map(&mut term).collect();
    let variables = 0..environment.quantities.len();
    let bytes: Vec<InputByte> = variables.flat_map(condition::bytes).collect();
    Assignments::new(&terms, &consistent, &predicates, bytes, Limits::time(STEP))
}

/// A feasible assignment on which two formulas differ, if the solver finds one.
pub fn difference(
    environment: &Environment,
    left: &Condition,
    right: &Condition,
    random: &mut Random,
) -> Option<Valuation> {
    let mut terms = Terms::new();
    let mut term = |condition: &Condition| condition.term(&mut terms);
    let mut consistent: Vec<TermId> = environment.consistency.iter().map(&mut term).collect();
    let (left, right) = (term(left), term(right));
    let differs = terms.binary(nearmiss_expr::Op::Xor, left, right);
    consistent.push(differs);
    let variables = 0..environment.quantities.len();
    let bytes: Vec<InputByte> = variables.flat_map(condition::bytes).collect();
    let mut solver = Assignments::new(&terms, &consistent, &[], bytes, Limits::time(STEP))?;
    let model = solver.another_input(&[], &mut || random.number())?;
    Some(valuations::of_model(environment, &model))
}
