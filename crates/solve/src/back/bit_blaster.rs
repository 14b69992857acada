//! Our bit-blaster on CaDiCaL: one growing instance, conditions of the path as unit clauses,
//! goals as assumptions.

use nearmiss_expr::Terms;

use super::Told;
use crate::blast::{Bit, Blaster, Interrupted};
use crate::question::{Answer, Layer, Model, Question, Reason, Reply, Solver};

/// The bit-blaster.
pub struct BitBlaster {
    blaster: Blaster,
    told: Told,
}

impl Default for BitBlaster {
    fn default() -> BitBlaster {
        BitBlaster::new()
    }
}

impl BitBlaster {
    /// Knows of no condition.
    pub fn new() -> BitBlaster {
        BitBlaster {
            blaster: Blaster::new(),
            told: Told::default(),
        }
    }

    fn answer(&mut self, terms: &Terms, question: &Question<'_>) -> Result<Answer, Interrupted> {
        let effort = question.effort;
        for &condition in question.path {
            if self.told.knows(condition) {
                continue;
            }
            let recorded = question.recorded;
            let bit = self
                .blaster
                .condition(terms, recorded, condition, effort.deadline)?;
            self.blaster.gates.clause(&[bit]);
            self.told.mark(condition);
        }
        let goal =
            self.blaster
                .condition(terms, question.recorded, question.goal, effort.deadline)?;
        let mut assumptions = vec![goal.literal()];
        for &(byte, value) in question.fixed {
            if let Some(bits) = self.blaster.input(byte) {
                assumptions.extend(byte_literals(bits, value));
            }
        }
        let sat = &mut self.blaster.gates.sat;
        match sat.check(assumptions, effort.conflicts, effort.deadline) {
            Some(true) => Ok(Answer::Sat(self.model(question))),
            Some(false) => Ok(Answer::Unsat),
            None => Err(Interrupted::Timeout),
        }
    }

    fn model(&self, question: &Question<'_>) -> Model {
        let sat = &self.blaster.gates.sat;
        let value = |bits: &[Bit]| {
            let bits = bits.iter().rev();
            bits.fold(0, |value, bit| {
                value << 1 | u8::from(sat.value(bit.literal()))
            })
        };
        question
            .bytes
            .iter()
            .filter_map(|&byte| Some((byte, value(self.blaster.input(byte)?))))
            .collect()
    }
}

/// The literals that say that a byte has a value.
pub(crate) fn byte_literals(bits: &[Bit], value: u8) -> impl Iterator<Item = i32> + '_ {
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
    fn solve(&mut self, terms: &mut Terms, question: &Question<'_>) -> Reply {
        let answer = match self.answer(terms, question) {
            Ok(answer) => answer,
            Err(Interrupted::Timeout) => Answer::Unknown(Reason::Timeout),
            Err(Interrupted::TooLarge) => Answer::Unknown(Reason::TooLarge),
        };
        Reply::new(answer, Layer::BitBlaster)
    }
}
