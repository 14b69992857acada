//! A formula against another, for all sizes: which calls only one of them lets through, decided by the solver.

use nearmiss_contracts::{Attribute, Comparison, Formula};
use nearmiss_expr::{InputByte, TermId, Terms};
use nearmiss_solve::{Answer, Limits, Stack};

use crate::InferError;
use crate::condition::Condition;
use crate::environment::Environment;

/// How a precondition is to a specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Both let the same calls through.
    Exact,
    /// It lets fewer calls through: all of them are right.
    Safe,
    /// It lets more calls through than the specification.
    Permissive,
    /// Some of each.
    Neither,
    /// The solver did not decide it.
    Undecided,
}

impl Relation {
    /// In one word.
    pub fn name(self) -> &'static str {
        match self {
            Relation::Exact => "exact",
            Relation::Safe => "safe",
            Relation::Permissive => "permissive",
            Relation::Neither => "neither",
            Relation::Undecided => "undecided",
        }
    }
}

/// Sizes are compared up to this one; numbers are any of 32 bits.
const LARGEST: i64 = 1 << 20;

/// Compares a formula with a specification.
pub fn compare(
    environment: &Environment,
    formula: &Formula,
    specification: &Formula,
) -> Result<Relation, InferError> {
    let formula = environment.condition(formula)?;
    let specification = environment.condition(specification)?;
    let more = lets_through(environment, &formula, &specification)?;
    let fewer = lets_through(environment, &specification, &formula)?;
    Ok(match (more, fewer) {
        (Some(false), Some(false)) => Relation::Exact,
        (Some(false), Some(true)) => Relation::Safe,
        (Some(true), Some(false)) => Relation::Permissive,
        (Some(true), Some(true)) => Relation::Neither,
        _ => Relation::Undecided,
    })
}

/// Whether the first lets a call through that the second does not.
fn lets_through(
    environment: &Environment,
    first: &Condition,
    second: &Condition,
) -> Result<Option<bool>, InferError> {
    let mut terms = Terms::new();
    let mut all: Vec<TermId> = Vec::new();
    for condition in any_size(environment)? {
        all.push(condition.term(&mut terms));
    }
    all.push(first.term(&mut terms));
    let second = second.term(&mut terms);
    let not_second = terms.not(second);
    let goal = all
        .iter()
        .fold(not_second, |goal, term| terms.and(goal, *term));
    let zero = |_: InputByte| 0u8;
    let mut session = Stack::default().tree();
    let reply = session.query(&mut terms, &[], goal, &zero, &Limits::default());
    Ok(match reply.answer {
        Answer::Sat(_) => Some(true),
        Answer::Unsat => Some(false),
        Answer::Unknown(_) => None,
    })
}

/// The consistency conditions of an environment whose sizes and numbers are not small: ranges that the user gave stay.
fn any_size(environment: &Environment) -> Result<Vec<Condition>, InferError> {
    let quantities = environment.quantities.len();
    let mut conditions: Vec<Condition> = environment.consistency[quantities..].to_vec();
    for quantity in environment.quantities.iter() {
        let of = || Formula::Term(quantity.term.clone());
        let (low, high) = match (quantity.is_number, quantity.range.0 == quantity.range.1) {
            (true, false) if quantity.term.attribute == Attribute::Value => {
                let low = if quantity.range.0 < 0 {
                    i32::MIN.into()
                } else {
                    0
                };
                (low, i32::MAX.into())
            }
            (true, false) => (if quantity.range.0 < 0 { -LARGEST } else { 0 }, LARGEST),
            _ => quantity.range,
        };
        let is_enumeration = quantity.range.0 == quantity.range.1 && !quantity.others.is_empty();
        if is_enumeration && quantity.term.attribute == Attribute::Value {
            continue;
        }
        for (comparison, limit) in [
            (Comparison::GreaterEqual, low),
            (Comparison::LessEqual, high),
        ] {
            let formula = Formula::compare(comparison, of(), Formula::Number(limit));
            conditions.push(environment.condition(&formula)?);
        }
    }
    Ok(conditions)
}
