//! Which truth assignments to a set of predicates are feasible: enumerated, or sampled.
//!
//! ```text
//!  propositions S ── assignment B ──► theory: consistent ∧ predicates as B says ?
//!        ▲                               yes: B is feasible;  S := S ∧ ¬B
//!        └────── clause ◄──────────────  no:  a minimal core C of B;  S := S ∧ ¬C
//! ```
//!
//! Sampling cuts the feasible assignments by random parities of predicates until few are left, and takes all of those:
//! each assignment is in such a cell with the same probability, whatever the solver likes best.

use nearmiss_bitwuzla::Deadline;
use nearmiss_bitwuzla::sat::Sat;
use nearmiss_expr::{InputByte, TermId, Terms};

use crate::blast::{Bit, Blaster, Interrupted};
use crate::query::{Limits, Model};

/// What the next step of an enumeration gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Assigned {
    /// A feasible assignment, and an input that has it.
    Feasible(Vec<bool>, Model),
    /// All feasible assignments are known.
    Exhausted,
    /// Time ran out.
    Unknown,
}

/// What an enumeration has cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AssignmentFigures {
    /// Assignments that the propositional solver proposed.
    pub proposed: u64,
    /// Questions about their feasibility, with those that made cores smaller.
    pub theory: u64,
    /// Infeasible ones: each left a core.
    pub cores: u64,
}

/// Enumerates the feasible truth assignments to predicates over one arena of terms.
pub struct Assignments {
    propositions: Sat,
    blaster: Blaster,
    predicates: Vec<Bit>,
    bytes: Vec<InputByte>,
    limits: Limits,
    /// What it has cost so far.
    pub figures: AssignmentFigures,
}

/// A source of random numbers.
pub type Dice<'a> = &'a mut dyn FnMut() -> u64;

/// Above so many assignments a cell is cut once more.
const CELL: usize = 48;

impl Assignments {
    /// Predicates are one-bit terms; `consistent` holds for every input that counts. `limits` are those of one
    /// step. `None` if the terms are too large.
    pub fn new(
        terms: &Terms,
        consistent: &[TermId],
        predicates: &[TermId],
        bytes: Vec<InputByte>,
        limits: Limits,
    ) -> Option<Assignments> {
        let mut blaster = Blaster::new();
        let zero = |_: InputByte| 0;
        let mut blast = |id: TermId| -> Result<Bit, Interrupted> {
            blaster.condition(terms, &zero, id, limits.deadline())
        };
        let asserted: Result<Vec<Bit>, _> = consistent.iter().map(|id| blast(*id)).collect();
        let bits: Result<Vec<Bit>, _> = predicates.iter().map(|id| blast(*id)).collect();
        for bit in asserted.ok()? {
            blaster.gates.clause(&[bit]);
        }
        let mut propositions = Sat::new();
        for variable in 1..=predicates.len() as i32 {
            // Says nothing, but makes the variable known.
            propositions.add_clause(&[variable, -variable]);
        }
        Some(Assignments {
            propositions,
            blaster,
            predicates: bits.ok()?,
            bytes,
            limits,
            figures: AssignmentFigures::default(),
        })
    }

    /// This assignment is known and is not to come again.
    pub fn block(&mut self, assignment: &[bool]) {
        let literal = |(index, holds): (usize, &bool)| signed(index, !holds);
        let clause: Vec<i32> = assignment.iter().enumerate().map(literal).collect();
        self.propositions.add_clause(&clause);
    }

    /// The next feasible assignment that is not known; `dice` decides where the search begins.
    pub fn step(&mut self, dice: Dice<'_>) -> Assigned {
        loop {
            for index in 0..self.predicates.len() {
                self.propositions.prefer(signed(index, dice() & 1 == 1));
            }
            let deadline = self.limits.deadline();
            match self.propositions.check([], None, deadline) {
                Some(false) => return Assigned::Exhausted,
                None => return Assigned::Unknown,
                Some(true) => {}
            }
            self.figures.proposed += 1;
            let proposed: Vec<bool> = (0..self.predicates.len())
                .map(|index| self.propositions.value(signed(index, true)))
                .collect();
            let chosen: Vec<usize> = (0..proposed.len()).collect();
            self.prefer_random_inputs(dice);
            match self.theory(&proposed, &chosen, deadline) {
                None => return Assigned::Unknown,
                Some(true) => {
                    let model = self.model();
                    self.block(&proposed);
                    return Assigned::Feasible(proposed, model);
                }
                Some(false) => {
                    let core = self.core(&proposed, chosen, deadline);
                    self.figures.cores += 1;
                    let clause = core.iter().map(|index| signed(*index, !proposed[*index]));
                    let clause: Vec<i32> = clause.collect();
                    self.propositions.add_clause(&clause);
                }
            }
        }
    }

    /// Another input with a feasible assignment; `None` if there is none, or none in time.
    pub fn another_input(&mut self, assignment: &[bool], dice: Dice<'_>) -> Option<Model> {
        self.prefer_random_inputs(dice);
        let all: Vec<usize> = (0..assignment.len()).collect();
        let deadline = self.limits.deadline();
        let found = self.theory(assignment, &all, deadline)?;
        found.then(|| self.model())
    }

    /// Some of all feasible assignments, known or not, each as likely as any other; few or none if unlucky.
    pub fn sample(&mut self, cuts: usize, dice: Dice<'_>) -> Sampled {
        let deadline = self.limits.deadline();
        let active = self.blaster.gates.fresh();
        let mut assumptions = vec![active.literal()];
        for _ in 0..cuts {
            let mut parity = Bit::constant(dice() & 1 == 1);
            for bit in self.predicates.clone() {
                if dice() & 1 == 1 {
                    parity = self.blaster.gates.xor(parity, bit);
                }
            }
            assumptions.push(parity.literal());
        }
        let mut cell = Vec::new();
        let sampled = loop {
            self.prefer_random_inputs(dice);
            self.figures.theory += 1;
            let sat = &mut self.blaster.gates.sat;
            match sat.check(assumptions.iter().copied(), None, deadline) {
                None => break Sampled::Unknown,
                Some(false) => break Sampled::Cell(std::mem::take(&mut cell)),
                Some(true) => {}
            }
            let value = |bit: &Bit| self.blaster.gates.sat.value(bit.literal());
            let assignment: Vec<bool> = self.predicates.iter().map(value).collect();
            let differs = |(bit, holds): (&Bit, &bool)| if *holds { !*bit } else { *bit };
            let mut clause = vec![!active];
            clause.extend(self.predicates.iter().zip(&assignment).map(differs));
            let model = self.model();
            self.blaster.gates.clause(&clause);
            cell.push((assignment, model));
            if cell.len() > CELL {
                break Sampled::TooMany;
            }
        };
        self.blaster.gates.clause(&[!active]);
        sampled
    }

    /// Whether some input has these predicates as proposed.
    fn theory(&mut self, proposed: &[bool], chosen: &[usize], deadline: Deadline) -> Option<bool> {
        self.figures.theory += 1;
        let bit = |index: &usize| {
            let bit = self.predicates[*index];
            if proposed[*index] { bit } else { !bit }
        };
        let literals: Vec<i32> = chosen.iter().map(|index| bit(index).literal()).collect();
        let sat = &mut self.blaster.gates.sat;
        sat.check(literals, None, deadline)
    }

    /// Fewer of the chosen predicates that are infeasible still: none can be left out. Halves are tried first.
    fn core(&mut self, proposed: &[bool], chosen: Vec<usize>, deadline: Deadline) -> Vec<usize> {
        let mut core = chosen;
        let mut size = core.len().div_ceil(2);
        loop {
            let mut start = 0;
            while start < core.len() {
                let end = (start + size).min(core.len());
                let rest = [&core[..start], &core[end..]].concat();
                match self.theory(proposed, &rest, deadline) {
                    Some(false) => core = rest,
                    _ => start = end,
                }
            }
            if size <= 1 {
                return core;
            }
            size = size.div_ceil(2);
        }
    }

    fn prefer_random_inputs(&mut self, dice: Dice<'_>) {
        for byte in &self.bytes {
            let Some(bits) = self.blaster.input(*byte) else {
                continue;
            };
            let mut random = dice();
            let literals: Vec<i32> = bits.iter().map(|bit| bit.literal()).collect();
            for literal in literals {
                let preferred = if random & 1 == 1 { literal } else { -literal };
                self.blaster.gates.sat.prefer(preferred);
                random >>= 1;
            }
        }
    }

    fn model(&self) -> Model {
        let sat = &self.blaster.gates.sat;
        let value = |bits: &[Bit]| {
            let bits = bits.iter().rev();
            bits.fold(0, |value, bit| {
                value << 1 | u8::from(sat.value(bit.literal()))
            })
        };
        let decided = |byte: &InputByte| Some((*byte, value(self.blaster.input(*byte)?)));
        self.bytes.iter().filter_map(decided).collect()
    }
}

/// What a cell of random parities holds.
#[derive(Clone, Debug)]
pub enum Sampled {
    /// All assignments of the cell, with an input of each.
    Cell(Vec<(Vec<bool>, Model)>),
    /// Too many: cut once more.
    TooMany,
    /// Time ran out.
    Unknown,
}

/// The literal of a proposition.
fn signed(index: usize, holds: bool) -> i32 {
    let variable = index as i32 + 1;
    if holds { variable } else { -variable }
}
