//! Clauses of all calls → fewer and shorter ones that say the same.
//!
//! A literal goes if the others of its clause follow from all clauses without it; a clause goes if it follows from the
//! others. Both are decided by the solver, so resolution, subsumption and what ranges of types imply need no rules of
//! their own; where it does not answer in time, things stay as they are.

use std::collections::BTreeSet;
use std::time::Duration;

use nearmiss_abi::site::SiteId;
use nearmiss_expr::{InputByte, Op, TermId, Terms};
use nearmiss_solve::{Answer, Limits, Stack, TreeSession};

use crate::clock::Clock;
use crate::condition::Clause;
use crate::inputs::{Input, Role};
use crate::linear::{Linear, Variable};
use crate::set::Set;
use crate::stairs;

/// Wide enough for every sum of inputs: nothing wraps around.
const WIDTH: u32 = 100;
/// For one question.
const QUERY_TIME: Duration = Duration::from_millis(300);
/// Literals of a clause that a person still reads.
const MOST_LITERALS: usize = 6;
/// Clauses that are looked at.
const MOST_CLAUSES: usize = 400;
/// Clauses with which each is compared: long paths have a hundred thousand.
const MOST_COMPARED: usize = 500;

/// The clauses of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simplified {
    /// What is left, each with the check that it came from.
    pub clauses: Vec<(Clause, SiteId)>,
    /// Clauses that were left out because they are too long to be read, or too many.
    pub left_out: u64,
}

/// Simplifies the conjunction of clauses, for as long as there is time.
pub fn simplify(clauses: Vec<(Clause, SiteId)>, inputs: &[Input], clock: Clock) -> Simplified {
    let mut clauses = without_subsumed(clauses);
    let all = clauses.len();
    // The shortest say most.
    clauses.sort_by_key(|(clause, _)| clause.len());
    clauses.truncate(MOST_CLAUSES);
    let mut left_out = (all - clauses.len()) as u64;
    let mut prover = Prover::new(inputs, clock);
    for number in 0..clauses.len() {
        prover.shorten(&mut clauses, number);
    }
    let clauses = without_subsumed(with_single_literals_joined(clauses));
    let range = |variable: Variable| inputs[variable.input as usize].range();
    let mut clauses = stairs::join(clauses, &range);
    for number in (0..clauses.len()).rev() {
        if prover.follows_from_others(&clauses, number) {
            clauses.remove(number);
        }
    }
    let shortened = clauses.len();
    clauses.retain(|(clause, _)| clause.len() <= MOST_LITERALS);
    left_out += (shortened - clauses.len()) as u64;
    Simplified { clauses, left_out }
}

/// `bounds(p) >= 2` for `bounds(p) != 1`: that an access fits (`offset <= size - 4`) wraps around for no elements at all,
/// which another clause of the same access excludes.
pub fn with_room(mut clauses: Vec<(Clause, SiteId)>, inputs: &[Input]) -> Vec<(Clause, SiteId)> {
    for (clause, _) in &mut clauses {
        for (sum, set) in clause.iter_mut() {
            let input = sum.as_variable().map(|it| &inputs[it.input as usize]);
            let bounds = input.filter(|it| it.role == Role::Bounds);
            if let (Some(input), [(0, 0), (low, high)]) = (bounds, set.intervals())
                && *high == input.range().1
            {
                *set = Set::interval(*low, *high);
            }
        }
    }
    clauses
}

/// Several clauses that are one literal about the same sum become one.
fn with_single_literals_joined(clauses: Vec<(Clause, SiteId)>) -> Vec<(Clause, SiteId)> {
    let mut joined: Vec<(Clause, SiteId)> = Vec::new();
    for (clause, site) in clauses {
        let is_same = |known: &&mut (Clause, SiteId)| {
            known.0.len() == 1 && clause.len() == 1 && known.0.keys().eq(clause.keys())
        };
        match joined.iter_mut().find(is_same) {
            Some((known, _)) => {
                for (sum, set) in &clause {
                    let both = known[sum].intersection(set);
                    known.insert(sum.clone(), both);
                }
            }
            None => joined.push((clause, site)),
        }
    }
    joined
}

/// Clauses that no other one implies literal by literal, of many no other one that is short.
pub(crate) fn without_subsumed(mut clauses: Vec<(Clause, SiteId)>) -> Vec<(Clause, SiteId)> {
    let mut seen = BTreeSet::new();
    clauses.retain(|(clause, _)| seen.insert(clause.clone()));
    let mut short: Vec<usize> = (0..clauses.len()).collect();
    short.sort_by_key(|number| clauses[*number].0.len());
    short.truncate(MOST_COMPARED);
    let implies = |one: &Clause, other: &Clause| {
        let mut literals = one.iter();
        literals.all(|(sum, set)| {
            let wider = other.get(sum);
            wider.is_some_and(|wider| wider.intersection(set) == *set)
        })
    };
    let is_needed = |number: usize| {
        let (clause, _) = &clauses[number];
        let mut others = short.iter();
        !others.any(|other| *other != number && implies(&clauses[*other].0, clause))
    };
    let needed: Vec<bool> = (0..clauses.len()).map(is_needed).collect();
    let mut needed = needed.into_iter();
    clauses.retain(|_| needed.next() == Some(true));
    clauses
}

/// Asks the solver what follows from what.
pub struct Prover<'a> {
    terms: Terms,
    session: TreeSession,
    inputs: &'a [Input],
    clock: Clock<'a>,
}

impl<'a> Prover<'a> {
    /// Questions about these inputs, for as long as there is time.
    pub fn new(inputs: &'a [Input], clock: Clock<'a>) -> Prover<'a> {
        Prover {
            terms: Terms::new(),
            session: Stack::default().tree(),
            inputs,
            clock,
        }
    }

    /// Drops literals of a clause that the conjunction of all does not need.
    fn shorten(&mut self, clauses: &mut [(Clause, SiteId)], number: usize) {
        let sums: Vec<Linear> = clauses[number].0.keys().cloned().collect();
        for sum in sums {
            let mut shorter = clauses[number].0.clone();
            shorter.remove(&sum);
            if shorter.is_empty() {
                continue;
            }
            let all = clauses.iter().map(|(clause, _)| clause);
            if self.follows(&shorter, all) {
                clauses[number].0 = shorter;
            }
        }
    }

    fn follows_from_others(&mut self, clauses: &[(Clause, SiteId)], number: usize) -> bool {
        let others = clauses.iter().enumerate();
        let others = others.filter(|(other, _)| *other != number);
        self.follows(&clauses[number].0, others.map(|(_, (clause, _))| clause))
    }

    /// Whether a clause holds wherever the others do.
    pub fn follows<'c>(
        &mut self,
        clause: &Clause,
        others: impl Iterator<Item = &'c Clause>,
    ) -> bool {
        if self.clock.is_over() {
            return false;
        }
        let mut assumed = self.ranges(clause);
        // All of them: what decides on a literal that was left out may share no input with the rest.
        assumed.extend(others.map(|other| self.clause(other)));
        let holds = self.clause(clause);
        let goal = self.terms.not(holds);
        let zero = |_: InputByte| 0;
        let limits = Limits::time(QUERY_TIME);
        let reply = (self.session).query(&mut self.terms, &assumed, goal, &zero, &limits);
        matches!(reply.answer, Answer::Unsat)
    }

    /// What is known of inputs whose bytes could say more than they mean.
    fn ranges(&mut self, clause: &Clause) -> Vec<TermId> {
        let variables = clause.keys().flat_map(|sum| sum.factors.keys());
        let sums: BTreeSet<Linear> = variables.map(|it| Linear::variable(*it)).collect();
        let literal = |sum: Linear| {
            let (low, high) = sum.range(&|variable| self.inputs[variable.input as usize].range());
            self.literal(&sum, &Set::interval(low, high))
        };
        sums.into_iter().map(literal).collect()
    }

    fn clause(&mut self, clause: &Clause) -> TermId {
        let mut any = self.terms.truth(false);
        for (sum, set) in clause {
            let literal = self.literal(sum, set);
            any = self.terms.or(any, literal);
        }
        any
    }

    fn literal(&mut self, sum: &Linear, set: &Set) -> TermId {
        let sum = self.sum(sum);
        let mut any = self.terms.truth(false);
        for &(low, high) in set.intervals() {
            let low = self.number(low);
            let high = self.number(high);
            let above = self.terms.binary(Op::Sle, low, sum);
            let below = self.terms.binary(Op::Sle, sum, high);
            let inside = self.terms.and(above, below);
            any = self.terms.or(any, inside);
        }
        any
    }

    fn sum(&mut self, sum: &Linear) -> TermId {
        let mut all = self.number(sum.constant);
        for (variable, factor) in &sum.factors {
            let input = &self.inputs[variable.input as usize];
            let byte = |offset| InputByte {
                channel: variable.input,
                offset: variable.element * input.bytes + offset,
            };
            let mut word = self.terms.input(byte(0));
            for offset in 1..input.bytes {
                let high = self.terms.input(byte(offset));
                word = self.terms.concat(high, word);
            }
            let word = match input.signed {
                true => self.terms.sext(word, WIDTH),
                false => self.terms.zext(word, WIDTH),
            };
            let factor = self.number(*factor);
            let product = self.terms.binary(Op::Mul, factor, word);
            all = self.terms.binary(Op::Add, all, product);
        }
        all
    }

    fn number(&mut self, number: i128) -> TermId {
        self.terms.constant(WIDTH, number as u128)
    }
}
