//! Terms as gates of a SAT instance. Every term is blasted once and its bits are kept.

mod arithmetic;
mod count;
mod divide;
mod gates;
mod shift;
mod table;
mod words;

use std::collections::HashMap;

use nearmiss_bitwuzla::Deadline;
use nearmiss_expr::{InputByte, Inputs, Node, Op, Ranges, TermId, Terms};

pub(crate) use gates::{Bit, Gates};
use words::Word;

/// No instance grows beyond this many clauses: some gigabytes.
const MAX_CLAUSES: usize = 30_000_000;

/// Why a term was not blasted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Interrupted {
    Timeout,
    TooLarge,
}

/// Blasts the terms of one arena.
pub(crate) struct Blaster {
    pub gates: Gates,
    /// Where each term's bits start in `pool`, by the term's index; 0 if they are not there.
    starts: Vec<u32>,
    pool: Vec<Bit>,
    inputs: HashMap<InputByte, Word>,
    /// Quotients and remainders, which are made together and mostly needed together.
    /// The flag says whether they are signed.
    divisions: HashMap<(bool, TermId, TermId), (Word, Word)>,
    /// What indices can be, for reads.
    ranges: Ranges,
}

impl Blaster {
    pub fn new() -> Blaster {
        Blaster {
            gates: Gates::new(),
            starts: Vec::new(),
            pool: vec![Bit::TRUE],
            inputs: HashMap::new(),
            divisions: HashMap::new(),
            ranges: Ranges::new(),
        }
    }

    /// The bits of an input byte, if some blasted term needed it.
    pub fn input(&self, byte: InputByte) -> Option<&[Bit]> {
        self.inputs.get(&byte).map(Vec::as_slice)
    }

    /// The bit of a one-bit term. Decisions about input bytes prefer what was `recorded`.
    pub fn condition(
        &mut self,
        terms: &Terms,
        recorded: &dyn Inputs,
        id: TermId,
        deadline: Deadline,
    ) -> Result<Bit, Interrupted> {
        debug_assert_eq!(terms.width(id), 1);
        self.starts.resize(self.starts.len().max(terms.len()), 0);
        let mut stack = vec![id];
        let mut clauses_at_last_look = self.gates.clause_count();
        while let Some(&top) = stack.last() {
            let waiting = stack.len();
            stack.extend(terms.operands(top).filter(|&operand| !self.has(operand)));
            if stack.len() > waiting {
                continue;
            }
            stack.pop();
            if self.has(top) {
                continue;
            }
            let mut word = self.blast(terms, recorded, top);
            self.fold(terms, top, &mut word);
            debug_assert_eq!(word.len(), terms.width(top) as usize);
            self.starts[top.index()] = self.pool.len() as u32;
            self.pool.extend(word);
            if self.gates.clause_count() > clauses_at_last_look + 10_000 {
                clauses_at_last_look = self.gates.clause_count();
                self.may_go_on(deadline)?;
            }
        }
        Ok(self.pool[self.starts[id.index()] as usize])
    }

    /// A one-bit term is true in all queries from now on: it was made a clause. What it says
    /// of other terms makes gates of those that come later needless.
    pub fn assume(&mut self, terms: &Terms, condition: TermId) {
        self.ranges.assume(terms, condition, true);
    }

    /// Bits that always have one value are constants for whatever is made of them.
    fn fold(&mut self, terms: &Terms, id: TermId, word: &mut Word) {
        let range = self.ranges.range(terms, id);
        for (position, bit) in word.iter_mut().enumerate() {
            if range.zeros >> position & 1 == 1 {
                *bit = Bit::FALSE;
            } else if range.ones >> position & 1 == 1 {
                *bit = Bit::TRUE;
            }
        }
    }

    fn may_go_on(&self, deadline: Deadline) -> Result<(), Interrupted> {
        if self.gates.clause_count() > MAX_CLAUSES {
            Err(Interrupted::TooLarge)
        } else if deadline.is_over() {
            Err(Interrupted::Timeout)
        } else {
            Ok(())
        }
    }

    fn has(&self, id: TermId) -> bool {
        self.starts[id.index()] != 0
    }

    /// The bits of a term whose operands have theirs.
    fn blast(&mut self, terms: &Terms, recorded: &dyn Inputs, id: TermId) -> Word {
        let bits = |id: TermId| {
            let start = self.starts[id.index()] as usize;
            &self.pool[start..start + terms.width(id) as usize]
        };
        let gates = &mut self.gates;
        match terms.node(id) {
            Node::Const { width, value } => words::constant(width, value),
            Node::Input(byte) => {
                let word = input(gates, recorded.byte(byte));
                self.inputs.insert(byte, word.clone());
                word
            }
            Node::Unary { op, a } => unary(gates, op, bits(a)),
            Node::Binary {
                op: op @ (Op::UDiv | Op::URem | Op::SDiv | Op::SRem),
                a,
                b,
            } => {
                let is_signed = matches!(op, Op::SDiv | Op::SRem);
                let (a_bits, b_bits) = (bits(a), bits(b));
                let both = self.divisions.entry((is_signed, a, b));
                let both = both.or_insert_with(|| divide(gates, is_signed, a_bits, b_bits));
                let wants_quotient = matches!(op, Op::UDiv | Op::SDiv);
                if wants_quotient { &both.0 } else { &both.1 }.clone()
            }
            Node::Binary { op, a, b } => match predicate(gates, op, bits(a), bits(b)) {
                Some(bit) => vec![bit],
                None => binary(gates, op, bits(a), bits(b)),
            },
            Node::Concat { high, low } => [bits(low), bits(high)].concat(),
            Node::Extract { a, low, width } => {
                bits(a)[low as usize..(low + width) as usize].to_vec()
            }
            Node::ZExt { a, width } => words::extend(bits(a), width, Bit::FALSE),
            Node::SExt { a, width } => words::extend(bits(a), width, words::sign(bits(a))),
            Node::Ite {
                condition,
                then,
                otherwise,
            } => words::mux(gates, bits(condition)[0], bits(then), bits(otherwise)),
            Node::Read {
                index,
                snapshot,
                width,
            } => {
                let range = self.ranges.range(terms, index);
                let bytes = terms.snapshot_bytes(snapshot);
                table::read(gates, bytes, bits(index), range.low..=range.high, width)
            }
        }
    }
}

/// A byte nothing is known about, except what it was.
fn input(gates: &mut Gates, recorded: u8) -> Word {
    (0..8)
        .map(|position| {
            let bit = gates.fresh();
            let preferred = if recorded >> position & 1 == 1 {
                bit
            } else {
                !bit
            };
            gates.sat.prefer(preferred.literal());
            bit
        })
        .collect()
}

/// Quotient and remainder.
fn divide(gates: &mut Gates, is_signed: bool, a: &[Bit], b: &[Bit]) -> (Word, Word) {
    if is_signed {
        divide::signed(gates, a, b)
    } else {
        divide::unsigned(gates, a, b)
    }
}

fn unary(gates: &mut Gates, op: Op, a: &[Bit]) -> Word {
    match op {
        Op::Neg => arithmetic::negate(gates, a),
        Op::Not => words::complement(a),
        Op::CtPop => count::ones(gates, a),
        Op::CtLz => count::leading_zeros(gates, a),
        Op::CtTz => count::trailing_zeros(gates, a),
        _ => unreachable!("{} is not unary", op.name()),
    }
}

fn binary(gates: &mut Gates, op: Op, a: &[Bit], b: &[Bit]) -> Word {
    match op {
        Op::Add => arithmetic::add(gates, a, b),
        Op::Sub => arithmetic::subtract(gates, a, b),
        Op::Mul => arithmetic::multiply(gates, a, b),
        Op::And => words::bitwise(a, b, |a, b| gates.and(a, b)),
        Op::Or => words::bitwise(a, b, |a, b| gates.or(a, b)),
        Op::Xor => words::bitwise(a, b, |a, b| gates.xor(a, b)),
        Op::Shl => shift::left(gates, a, b),
        Op::LShr => shift::right(gates, a, b, Bit::FALSE),
        Op::AShr => shift::right(gates, a, b, words::sign(a)),
        _ => unreachable!("{} is not binary", op.name()),
    }
}

/// The operations with one bit of result.
fn predicate(gates: &mut Gates, op: Op, a: &[Bit], b: &[Bit]) -> Option<Bit> {
    Some(match op {
        Op::Eq => words::equal(gates, a, b),
        Op::Ne => !words::equal(gates, a, b),
        Op::Ult => words::below(gates, a, b, false),
        Op::Ule => words::below(gates, a, b, true),
        Op::Slt => words::below_signed(gates, a, b, false),
        Op::Sle => words::below_signed(gates, a, b, true),
        Op::SAddOverflow => arithmetic::signed_add_overflows(gates, a, b),
        Op::UAddOverflow => arithmetic::unsigned_add_overflows(gates, a, b),
        Op::SSubOverflow => arithmetic::signed_subtract_overflows(gates, a, b),
        Op::USubOverflow => words::below(gates, a, b, false),
        Op::SMulOverflow => arithmetic::signed_multiply_overflows(gates, a, b),
        Op::UMulOverflow => arithmetic::unsigned_multiply_overflows(gates, a, b),
        _ => return None,
    })
}
