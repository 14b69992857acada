//! Words as sums of inputs modulo 2^width, and their true values.

use nearmiss_expr::{InputByte, Node, Op, TermId};

use super::{MOST_DEPTH, MOST_WINDOWS, Pieces, Translator, WIDEST};
use crate::condition::Condition;
use crate::linear::{Linear, Variable};

/// Pieces of a word beyond this are too many to be read.
const MOST_PIECES: usize = 8;

impl Translator<'_> {
    /// The true value of a word that is known modulo 2^width.
    pub(super) fn value(&self, pieces: Pieces, width: u32, signed: bool) -> Option<Pieces> {
        if width >= WIDEST {
            // No sum of inputs comes to the ends of so wide a word.
            let fits = |sum: &Linear| signed || sum.range(&|it| self.range(it)).0 >= 0;
            return pieces.iter().all(|(_, sum)| fits(sum)).then_some(pieces);
        }
        let (base, _) = limits(width, signed)?;
        let window = 1i128 << width;
        let mut values = Pieces::new();
        for (guard, sum) in pieces {
            let (low, high) = sum.range(&|variable| self.range(variable));
            let (first, last) = (
                (low - base).div_euclid(window),
                (high - base).div_euclid(window),
            );
            if last - first >= MOST_WINDOWS {
                return None;
            }
            for number in first..=last {
                let value = sum.plus(-window, &Linear::constant(number))?;
                let here = self.between(&value, Some(base), Some(base + window - 1));
                let guard = Condition::all(vec![guard.clone(), here]);
                values.push((guard, value));
            }
        }
        possible(values)
    }

    pub(super) fn word(&mut self, id: TermId) -> Option<Pieces> {
        if let Some(known) = self.known.get(&id) {
            return known.clone();
        }
        self.depth += 1;
        let found = match self.depth > MOST_DEPTH {
            true => None,
            false => self.new_word(id),
        };
        self.depth -= 1;
        self.known.insert(id, found.clone());
        found
    }

    pub(super) fn new_word(&mut self, id: TermId) -> Option<Pieces> {
        let width = self.terms.width(id);
        if let Some(variable) = self.whole_variable(id) {
            return Some(vec![(Condition::truth(true), Linear::variable(variable))]);
        }
        if width == 1 {
            let truth = self.truth(id)?;
            let other = self.negated(&truth);
            return possible(vec![
                (truth, Linear::constant(1)),
                (other, Linear::constant(0)),
            ]);
        }
        match self.terms.node(id) {
            Node::Const { value, .. } => {
                let value = match width {
                    // Modulo 2^128 a large number is a negative one.
                    128 => value as i128,
                    _ => i128::try_from(value).ok()?,
                };
                Some(vec![(Condition::truth(true), Linear::constant(value))])
            }
            Node::Input(byte) if self.view.variable(byte).is_none() => {
                let value = self.view.bytes.recorded.get(&byte).copied()?;
                Some(vec![(
                    Condition::truth(true),
                    Linear::constant(value.into()),
                )])
            }
            Node::ZExt { a, .. } => self.extended(a, false),
            Node::SExt { a, .. } => self.extended(a, true),
            Node::Concat { .. } => self.joined_words(id),
            Node::Extract { a, low: 0, .. } => self.word(a),
            Node::Unary { op, a } => self.mapped(op, a),
            Node::Binary { op, a, b } => self.operation(op, a, b),
            Node::Ite {
                condition,
                then,
                otherwise,
            } => {
                let chosen = self.truth(condition)?;
                let other = self.negated(&chosen);
                let (then, otherwise) = (self.word(then)?, self.word(otherwise)?);
                let with = |guard: &Condition, pieces: Pieces| -> Pieces {
                    let one = |(own, sum)| (Condition::all(vec![guard.clone(), own]), sum);
                    pieces.into_iter().map(one).collect()
                };
                possible([with(&chosen, then), with(&other, otherwise)].concat())
            }
            _ => None,
        }
    }

    /// Words one above the other. Simplification nests them in any order, so bytes of one variable are looked for among
    /// all of them: `concat b3 (concat b2 (concat b1 (concat b0 00)))` is four times a number.
    pub(super) fn joined_words(&mut self, id: TermId) -> Option<Pieces> {
        let parts = self.parts(id);
        let mut all = vec![(Condition::truth(true), Linear::default())];
        let (mut at, mut number) = (0, 0);
        while let Some(part) = parts.get(number) {
            let width = self.terms.width(*part);
            let (word, taken, bits) = match self.variable_at(&parts[number..]) {
                Some((variable, taken)) => {
                    let word = vec![(Condition::truth(true), Linear::variable(variable))];
                    // What is above a negative number does not see its sign.
                    let bits = 8 * taken as u32;
                    let is_top = number + taken == parts.len();
                    let word = match is_top {
                        true => word,
                        false => self.value(word, bits, false)?,
                    };
                    (word, taken, bits)
                }
                None if number + 1 == parts.len() => (self.word(*part)?, 1, width),
                None => (self.extended(*part, false)?, 1, width),
            };
            let scale = 1i128.checked_shl(at).filter(|_| at < 90)?;
            all = sums(word, all, |word, all| all.plus(scale, word))?;
            at += bits;
            number += taken;
        }
        Some(all)
    }

    /// The words that a term is put together of, from the lowest.
    pub(super) fn parts(&self, id: TermId) -> Vec<TermId> {
        let mut found = Vec::new();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            match self.terms.node(id) {
                Node::Concat { high, low } => open.extend([high, low]),
                _ => found.push(id),
            }
        }
        found
    }

    /// The variable that these words begin with, and how many of them are its bytes.
    pub(super) fn variable_at(&self, parts: &[TermId]) -> Option<(Variable, usize)> {
        let byte = |part: &TermId| match self.terms.node(*part) {
            Node::Input(byte) => self.view.variable(byte),
            _ => None,
        };
        let (variable, _) = byte(parts.first()?)?;
        let size = self.view.size(variable) as usize;
        let in_order =
            |(place, part): (usize, &TermId)| byte(part) == Some((variable, place as u32));
        let is_whole = parts.len() >= size && parts[..size].iter().enumerate().all(in_order);
        is_whole.then_some((variable, size))
    }

    pub(super) fn extended(&mut self, a: TermId, signed: bool) -> Option<Pieces> {
        let width = self.terms.width(a);
        let pieces = self.word(a)?;
        self.value(pieces, width, signed)
    }

    pub(super) fn mapped(&mut self, op: Op, a: TermId) -> Option<Pieces> {
        let added = match op {
            Op::Neg => 0,
            // All ones is -1.
            Op::Not => -1,
            _ => return None,
        };
        let one = |(guard, sum): (Condition, Linear)| {
            Some((guard, Linear::constant(added).plus(-1, &sum)?))
        };
        self.word(a)?.into_iter().map(one).collect()
    }

    pub(super) fn operation(&mut self, op: Op, a: TermId, b: TermId) -> Option<Pieces> {
        let width = self.terms.width(a);
        match op {
            Op::Add => sums(self.word(a)?, self.word(b)?, |a, b| a.plus(1, b)),
            Op::Sub => sums(self.word(a)?, self.word(b)?, |a, b| a.plus(-1, b)),
            Op::Mul => sums(self.word(a)?, self.word(b)?, product),
            Op::UDiv => {
                let divisor = i128::try_from(self.terms.as_constant(b)?).ok()?;
                self.quotient(a, divisor)
            }
            Op::LShr => {
                let distance = u32::try_from(self.terms.as_constant(b)?).ok()?;
                self.quotient(a, 1i128.checked_shl(distance).filter(|_| distance < 64)?)
            }
            Op::Shl => {
                let distance = u32::try_from(self.terms.as_constant(b)?).ok()?;
                let scale = 1i128.checked_shl(distance).filter(|_| distance < 64)?;
                sums(self.word(a)?, vec![], |a, _| a.times(scale))
            }
            Op::And | Op::Or | Op::Xor if self.is_bit(a) && self.is_bit(b) => self.bits(op, a, b),
            Op::And => {
                let (word, mask) = match (self.terms.as_constant(a), self.terms.as_constant(b)) {
                    (_, Some(mask)) => (a, mask),
                    (Some(mask), _) => (b, mask),
                    _ => return None,
                };
                let bits = (mask + 1).checked_ilog2()?;
                let is_low = (mask + 1).is_power_of_two() && bits < width;
                let pieces = self.word(word).filter(|_| is_low)?;
                self.value(pieces, bits, false)
            }
            _ => None,
        }
    }

    /// Whether a word is a truth: how contracts join conditions, without a branch.
    pub(super) fn is_bit(&self, id: TermId) -> bool {
        match self.terms.node(id) {
            Node::Const { value, .. } => value <= 1,
            Node::ZExt { a, .. } => self.terms.width(a) == 1,
            Node::Binary {
                op: Op::And | Op::Or | Op::Xor,
                a,
                b,
            } => self.is_bit(a) && self.is_bit(b),
            _ => false,
        }
    }

    pub(super) fn bit(&mut self, id: TermId) -> Option<Condition> {
        match self.terms.node(id) {
            Node::Const { value, .. } => Some(Condition::truth(value == 1)),
            Node::ZExt { a, .. } => self.truth(a),
            Node::Binary { op, a, b } => self.joined_bits(op, a, b),
            _ => None,
        }
    }

    pub(super) fn joined_bits(&mut self, op: Op, a: TermId, b: TermId) -> Option<Condition> {
        let (a, b) = (self.bit(a)?, self.bit(b)?);
        Some(match op {
            Op::And => Condition::all(vec![a, b]),
            Op::Or => Condition::any(vec![a, b]),
            _ => self.different(&a, &b),
        })
    }

    pub(super) fn bits(&mut self, op: Op, a: TermId, b: TermId) -> Option<Pieces> {
        let holds = self.joined_bits(op, a, b)?;
        let other = self.negated(&holds);
        possible(vec![
            (holds, Linear::constant(1)),
            (other, Linear::constant(0)),
        ])
    }

    /// A word divided by a number, where nothing is left over.
    pub(super) fn quotient(&mut self, a: TermId, divisor: i128) -> Option<Pieces> {
        let one = |(guard, sum): (Condition, Linear)| Some((guard, sum.over(divisor)?));
        self.extended(a, false)?.into_iter().map(one).collect()
    }

    /// The variable that a term is, all of its bytes in their order.
    pub(super) fn whole_variable(&self, id: TermId) -> Option<Variable> {
        let mut bytes = Vec::new();
        self.input_bytes(id, &mut bytes)?;
        let (variable, _) = self.view.variable(bytes[0])?;
        let is_whole = bytes.len() == self.view.size(variable) as usize;
        let in_order = |(number, byte): (usize, &InputByte)| {
            self.view.variable(*byte) == Some((variable, number as u32))
        };
        (is_whole && bytes.iter().enumerate().all(in_order)).then_some(variable)
    }

    /// The input bytes that a term is put together of, from the lowest.
    pub(super) fn input_bytes(&self, id: TermId, bytes: &mut Vec<InputByte>) -> Option<()> {
        match self.terms.node(id) {
            Node::Input(byte) => bytes.push(byte),
            Node::Concat { high, low } if self.terms.width(id) <= 64 => {
                self.input_bytes(low, bytes)?;
                self.input_bytes(high, bytes)?;
            }
            _ => return None,
        }
        Some(())
    }
}

/// The least and the greatest number of so many bits.
pub(super) fn limits(width: u32, signed: bool) -> Option<(i128, i128)> {
    match (width, signed) {
        (WIDEST.., _) => None,
        (_, true) => Some((-(1 << (width - 1)), (1 << (width - 1)) - 1)),
        (_, false) => Some((0, (1 << width) - 1)),
    }
}

/// The product of two sums of which one is a number.
pub(super) fn product(a: &Linear, b: &Linear) -> Option<Linear> {
    match (a.as_constant(), b.as_constant()) {
        (Some(factor), _) => b.times(factor),
        (_, Some(factor)) => a.times(factor),
        _ => None,
    }
}

/// The pieces that can be met at all; `None` if they are too many.
pub(super) fn possible(mut pieces: Pieces) -> Option<Pieces> {
    pieces.retain(|(guard, _)| guard.as_truth() != Some(false));
    (pieces.len() <= MOST_PIECES).then_some(pieces)
}

/// Every piece of one word with every piece of another.
pub(super) fn combined(a: Pieces, b: Pieces) -> Option<Vec<(Condition, Linear, Linear)>> {
    let mut all = Vec::new();
    for (guard, a) in &a {
        for (other, b) in &b {
            let both = Condition::all(vec![guard.clone(), other.clone()]);
            if both.as_truth() != Some(false) {
                all.push((both, a.clone(), b.clone()));
            }
        }
    }
    (all.len() <= MOST_PIECES).then_some(all)
}

/// What becomes of two words, piece by piece; without a second word of the first alone.
pub(super) fn sums(
    a: Pieces,
    b: Pieces,
    make: impl Fn(&Linear, &Linear) -> Option<Linear>,
) -> Option<Pieces> {
    let b = match b.is_empty() {
        true => vec![(Condition::truth(true), Linear::default())],
        false => b,
    };
    let one = |(guard, a, b): (Condition, Linear, Linear)| Some((guard, make(&a, &b)?));
    let pieces: Option<Pieces> = combined(a, b)?.into_iter().map(one).collect();
    possible(pieces?)
}
