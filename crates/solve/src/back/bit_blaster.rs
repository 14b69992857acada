//! Our bit-blaster on CaDiCaL: one growing instance. By prefix, constraints of the path are unit
//! clauses and only goals are assumptions; by assumptions, constraints are assumptions, too.

use std::time::Duration;

use nearmiss_bitwuzla::Deadline;
use nearmiss_expr::{InputByte, TermId, Terms};

use super::Asserted;
use crate::blast::{Bit, Blaster, Interrupted};
use crate::query::{Answer, Layer, Model, Policy, Query, Reason, Reply, Solver};

/// An instance that has grown beyond this by assumptions is begun again: old paths weigh on each
/// propagation.
const MAX_CLAUSES: usize = 3_000_000;
/// So many new constraints of a path are not begun with in less than this: turning them into clauses takes longer,
/// and what was begun is thrown away with the path's session.
const MOST_NEW: usize = 1024;
const LEAST_FOR_MORE: Duration = Duration::from_millis(100);

/// The bit-blaster.
pub struct BitBlaster {
    blaster: Blaster,
    asserted: Asserted,
}

impl Default for BitBlaster {
    fn default() -> BitBlaster {
        BitBlaster::new()
    }
}

impl BitBlaster {
    /// Knows of no constraint.
    pub fn new() -> BitBlaster {
        BitBlaster {
            blaster: Blaster::new(),
            asserted: Asserted::default(),
        }
    }

    fn answer(&mut self, terms: &Terms, query: &Query<'_>) -> Result<Answer, Interrupted> {
        let mut assumptions = match query.policy {
            Policy::Prefix { .. } => {
                self.assert_path(terms, query)?;
                Vec::new()
            }
            Policy::Assumptions { always } => {
                self.assert_always(terms, always, query.effort.deadline)?;
                self.literals(terms, query, query.constraints)?
            }
        };
        assumptions.extend(self.literals(terms, query, &[query.goal])?);
        if assumptions.contains(&Bit::FALSE.literal()) {
            return Ok(Answer::Unsat);
        }
        for &(byte, value) in query.fixed {
            if let Some(bits) = self.blaster.input(byte) {
                assumptions.extend(byte_literals(bits, value));
            }
        }
        let sat = &mut self.blaster.gates.sat;
        match sat.check(assumptions, query.effort.conflicts, query.effort.deadline) {
            Some(true) => Ok(Answer::Sat(self.model(query))),
            Some(false) => Ok(Answer::Unsat),
            None => Err(Interrupted::Timeout),
        }
    }

    /// The constraints of a path hold from now on.
    fn assert_path(&mut self, terms: &Terms, query: &Query<'_>) -> Result<(), Interrupted> {
        if query.effort.deadline.left() < LEAST_FOR_MORE {
            let new = query.constraints.iter();
            let new = new.filter(|constraint| !self.asserted.has(**constraint));
            if new.count() > MOST_NEW {
                return Err(Interrupted::TooLarge);
            }
        }
        for &constraint in query.constraints {
            if !self.asserted.has(constraint) {
                let (recorded, deadline) = (query.recorded, query.effort.deadline);
                let bit = (self.blaster).condition(terms, recorded, constraint, deadline)?;
                self.blaster.gates.clause(&[bit]);
                self.asserted.mark(constraint);
            }
        }
        Ok(())
    }

    /// These hold in every query, and what they say of terms makes gates needless.
    fn assert_always(
        &mut self,
        terms: &Terms,
        always: &[TermId],
        deadline: Deadline,
    ) -> Result<(), Interrupted> {
        if self.blaster.gates.clause_count() > MAX_CLAUSES {
            *self = BitBlaster::new();
        }
        for &constraint in always {
            if !self.asserted.has(constraint) {
                let zero = |_: InputByte| 0;
                let bit = (self.blaster).condition(terms, &zero, constraint, deadline)?;
                self.blaster.gates.clause(&[bit]);
                self.blaster.assume(terms, constraint);
                self.asserted.mark(constraint);
            }
        }
        Ok(())
    }

    /// The literals that make constraints true.
    fn literals(
        &mut self,
        terms: &Terms,
        query: &Query<'_>,
        constraints: &[TermId],
    ) -> Result<Vec<i32>, Interrupted> {
        let mut literals = Vec::with_capacity(constraints.len() + 1);
        for &constraint in constraints {
            let (recorded, deadline) = (query.recorded, query.effort.deadline);
            let bit = (self.blaster).condition(terms, recorded, constraint, deadline)?;
            if bit.known() != Some(true) {
                literals.push(bit.literal());
            }
        }
        Ok(literals)
    }

    fn model(&self, query: &Query<'_>) -> Model {
        let sat = &self.blaster.gates.sat;
        let value = |bits: &[Bit]| {
            let bits = bits.iter().rev();
            bits.fold(0, |value, bit| {
                value << 1 | u8::from(sat.value(bit.literal()))
            })
        };
        query
            .bytes
            .iter()
            .filter_map(|&byte| Some((byte, value(self.blaster.input(byte)?))))
            .collect()
    }
}

/// The literals that say that a byte has a value.
fn byte_literals(bits: &[Bit], value: u8) -> impl Iterator<Item = i32> + '_ {
    bits.iter().enumerate().map(move |(position, &bit)| {
        let bit = if value >> position & 1 == 1 {
            bit
        } else {
            !bit
        };
        bit.literal()
    })
}

impl Solver for BitBlaster {
    fn solve(&mut self, terms: &mut Terms, query: &Query<'_>) -> Reply {
        let answer = match self.answer(terms, query) {
            Ok(answer) => answer,
            Err(Interrupted::Timeout) => Answer::Unknown(Reason::Timeout),
            Err(Interrupted::TooLarge) => Answer::Unknown(Reason::TooLarge),
        };
        Reply::new(answer, Layer::BitBlaster)
    }
}
