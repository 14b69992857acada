//! Bit-vector terms → conditions over mathematical integers.
//!
//! A word of w bits is a sum of inputs *modulo 2^w*: addition, subtraction and multiplication by a number are
//! exact there. Where it is compared or extended its true value matters: the ranges of its inputs say in which
//! windows of 2^w numbers the sum can lie, and for each of the few windows the value is the sum less a
//! constant. A choice makes two pieces of one word in the same way. What depends on one byte only is
//! found by trying its 256 values. All else is given up.

use std::collections::{BTreeMap, HashMap};

use nearmiss_expr::{Evaluator, InputByte, Node, Op, Supports, TermId, Terms};

use crate::condition::{Condition, Ranges};
use crate::inputs::{Role, View};
use crate::linear::{Linear, Variable};
use crate::set::Set;

/// A word as a sum of inputs modulo 2^width, under conditions that exclude each other.
type Pieces = Vec<(Condition, Linear)>;

/// Pieces of a word beyond this are too many to be read.
const MOST_PIECES: usize = 8;
/// Windows that a sum may lie in.
const MOST_WINDOWS: i128 = 3;
/// Parts of a conjunction that are looked at one by one.
const MOST_LEAVES: usize = 64;
/// Words of more bits hold every sum of inputs: nothing wraps around.
const WIDEST: u32 = 90;
/// Terms one within the other.
const MOST_DEPTH: u32 = 120;

/// Translates the terms of one path.
pub struct Translator<'a> {
    terms: &'a Terms,
    view: View<'a>,
    /// What the path says of single inputs so far.
    narrowed: HashMap<Variable, (i128, i128)>,
    supports: Supports,
    known: HashMap<TermId, Option<Pieces>>,
    depth: u32,
}

/// Equal or not, the number, and its bytes by their places.
type ByteEquality = (Op, Variable, Vec<(u32, u8)>);

impl<'a> Translator<'a> {
    /// A translator for terms over these inputs.
    pub fn new(terms: &'a Terms, view: View<'a>) -> Translator<'a> {
        Translator {
            terms,
            view,
            narrowed: HashMap::new(),
            supports: Supports::new(),
            known: HashMap::new(),
            depth: 0,
        }
    }

    /// A one-bit term as a condition that agrees with it wherever everything assumed before holds; `None` if
    /// that cannot be said.
    pub fn condition(&mut self, id: TermId) -> Option<Condition> {
        self.known.clear();
        self.depth = 0;
        self.truth(id)
    }

    /// The pointers that a term looks at beside numbers: whether they are null is an input of their own.
    pub fn pointers(&mut self, id: TermId) -> Vec<Variable> {
        let support = self.supports.of(self.terms, id);
        let bytes = self.supports.bytes(support);
        let of_call = bytes.iter().filter_map(|byte| self.view.variable(*byte));
        let mut found: Vec<Variable> = of_call.map(|(variable, _)| variable).collect();
        found.dedup();
        let is_null = |it: &Variable| self.view.inputs[it.input as usize].role == Role::Null;
        found.retain(is_null);
        found
    }

    /// Whether a term looks at nothing but whether pointers are null.
    pub fn is_about_null(&mut self, id: TermId) -> bool {
        let support = self.supports.of(self.terms, id);
        let bytes = self.supports.bytes(support);
        let mut of_call = bytes.iter().filter_map(|byte| self.view.variable(*byte));
        of_call.all(|(it, _)| self.view.inputs[it.input as usize].role == Role::Null)
    }

    /// From now on this holds: ranges become narrower.
    pub fn assume(&mut self, condition: &Condition) {
        match condition {
            Condition::Literal(sum, set) => {
                let ends = (set.intervals().first(), set.intervals().last());
                if let (Some(variable), (Some(first), Some(last))) = (sum.as_variable(), ends) {
                    let (low, high) = self.range(variable);
                    self.narrowed
                        .insert(variable, (low.max(first.0), high.min(last.1)));
                }
            }
            Condition::All(parts) => parts.iter().for_each(|part| self.assume(part)),
            Condition::Any(_) => {}
        }
    }

    fn range(&self, variable: Variable) -> (i128, i128) {
        let narrowed = self.narrowed.get(&variable).copied();
        let (low, high) = narrowed.unwrap_or_else(|| self.view.range(variable));
        // What contradicts itself is never met.
        if low <= high { (low, high) } else { (low, low) }
    }

    /// `sum` in `low..=high`, in words that hold without what was assumed.
    fn between(&self, sum: &Linear, low: Option<i128>, high: Option<i128>) -> Condition {
        let (least, greatest) = sum.range(&|variable| self.range(variable));
        let low = low.filter(|low| *low > least);
        let high = high.filter(|high| *high < greatest);
        if low.is_none() && high.is_none() {
            return Condition::truth(true);
        }
        if low.is_some_and(|low| low > greatest) || high.is_some_and(|high| high < least) {
            return Condition::truth(false);
        }
        Condition::between(sum, low, high, &|variable| self.view.range(variable))
    }

    fn ranges(&self) -> impl Fn(Variable) -> (i128, i128) + '_ {
        |variable| self.view.range(variable)
    }

    fn negated(&self, condition: &Condition) -> Condition {
        let ranges = self.ranges();
        condition.negated(&ranges as Ranges)
    }

    fn truth(&mut self, id: TermId) -> Option<Condition> {
        self.depth += 1;
        let found = match self.depth > MOST_DEPTH {
            true => None,
            false => self.structured(id).or_else(|| self.enumerated(id)),
        };
        self.depth -= 1;
        found
    }

    fn structured(&mut self, id: TermId) -> Option<Condition> {
        match self.terms.node(id) {
            Node::Const { value, .. } => Some(Condition::truth(value == 1)),
            Node::Unary { op: Op::Not, a } => {
                let inner = self.truth(a)?;
                Some(self.negated(&inner))
            }
            Node::Binary {
                op: Op::And | Op::Or,
                ..
            } => self.joined(id),
            Node::Binary { op, a, b } if self.terms.width(a) == 1 => self.connected(op, a, b),
            Node::Binary {
                op: Op::Eq | Op::Ne,
                ..
            } if self.byte_equality(id).is_some() => self.joined(id),
            Node::Binary { op, a, b } => self.compared(op, a, b),
            Node::Ite {
                condition,
                then,
                otherwise,
            } => {
                let chosen = self.truth(condition)?;
                let other = self.negated(&chosen);
                let (then, otherwise) = (self.truth(then)?, self.truth(otherwise)?);
                Some(Condition::any(vec![
                    Condition::all(vec![chosen, then]),
                    Condition::all(vec![other, otherwise]),
                ]))
            }
            _ => None,
        }
    }

    /// A conjunction or disjunction. That a number of several bytes is equal to another comes as one equality for each
    /// byte: these are put together again.
    fn joined(&mut self, id: TermId) -> Option<Condition> {
        let (is_all, leaves) = match self.terms.node(id) {
            Node::Binary { op: Op::Or, .. } => (false, self.leaves(id, Op::Or)),
            Node::Binary { op: Op::Ne, .. } => (false, vec![id]),
            _ => (true, self.leaves(id, Op::And)),
        };
        let wanted = if is_all { Op::Eq } else { Op::Ne };
        let mut numbers: BTreeMap<Variable, BTreeMap<u32, u8>> = BTreeMap::new();
        let mut parts = Vec::new();
        for leaf in leaves {
            match self.byte_equality(leaf).filter(|(op, ..)| *op == wanted) {
                Some((_, variable, bytes)) => numbers.entry(variable).or_default().extend(bytes),
                // Of one byte only: not what was meant above.
                None if leaf == id => return None,
                None => parts.push(self.truth(leaf)?),
            }
        }
        for (variable, bytes) in numbers {
            let equal = self.upper_bytes(variable, &bytes)?;
            parts.push(match is_all {
                true => equal,
                false => self.negated(&equal),
            });
        }
        Some(match is_all {
            true => Condition::all(parts),
            false => Condition::any(parts),
        })
    }

    fn leaves(&self, id: TermId, op: Op) -> Vec<TermId> {
        let mut found = Vec::new();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            match self.terms.node(id) {
                Node::Binary { op: here, a, b } if here == op && found.len() < MOST_LEAVES => {
                    open.extend([b, a]);
                }
                _ => found.push(id),
            }
        }
        found
    }

    /// Some bytes of a number of several bytes are equal to constants, or not.
    fn byte_equality(&self, id: TermId) -> Option<ByteEquality> {
        let Node::Binary { op, a, b } = self.terms.node(id) else {
            return None;
        };
        let is_equality = matches!(op, Op::Eq | Op::Ne);
        let value = self.terms.as_constant(b).filter(|_| is_equality)?;
        let mut bytes = Vec::new();
        self.input_bytes(a, &mut bytes)?;
        let (variable, _) = self.view.variable(bytes[0])?;
        let mut known = Vec::new();
        for (number, byte) in bytes.iter().enumerate() {
            let (of, place) = self.view.variable(*byte)?;
            if of != variable {
                return None;
            }
            known.push((place, (value >> (8 * number)) as u8));
        }
        (self.view.size(variable) > 1).then_some((op, variable, known))
    }

    /// A number whose upper bytes are these, down to some byte: it lies in an interval.
    fn upper_bytes(&self, variable: Variable, bytes: &BTreeMap<u32, u8>) -> Option<Condition> {
        let size = self.view.size(variable);
        let (first, _) = bytes.first_key_value()?;
        let is_upper = bytes.len() as u32 == size - first;
        let mut low: i128 = 0;
        for (place, value) in bytes.iter().filter(|_| is_upper) {
            low |= i128::from(*value) << (8 * place);
        }
        let (least, greatest) = limits(8 * size, self.view.is_signed(variable))?;
        if low > greatest {
            low += least - greatest - 1;
        }
        let high = low + (1 << (8 * first)) - 1;
        let sum = Linear::variable(variable);
        is_upper.then(|| Condition::between(&sum, Some(low), Some(high), &|it| self.view.range(it)))
    }

    /// An operation on two truths.
    fn connected(&mut self, op: Op, a: TermId, b: TermId) -> Option<Condition> {
        let (a, b) = (self.truth(a)?, self.truth(b)?);
        let different = self.different(&a, &b);
        match op {
            Op::Xor | Op::Ne => Some(different),
            Op::Eq => Some(self.negated(&different)),
            _ => None,
        }
    }

    /// Only one of two holds.
    fn different(&self, a: &Condition, b: &Condition) -> Condition {
        let (not_a, not_b) = (self.negated(a), self.negated(b));
        Condition::any(vec![
            Condition::all(vec![a.clone(), not_b]),
            Condition::all(vec![not_a, b.clone()]),
        ])
    }

    fn compared(&mut self, op: Op, a: TermId, b: TermId) -> Option<Condition> {
        let width = self.terms.width(a);
        match op {
            Op::Eq | Op::Ne => {
                let equal = self.equal(a, b, width)?;
                Some(match op {
                    Op::Eq => equal,
                    _ => self.negated(&equal),
                })
            }
            Op::Ult | Op::Slt => self.less(a, b, op == Op::Slt, -1),
            Op::Ule | Op::Sle => self.less(a, b, op == Op::Sle, 0),
            Op::SAddOverflow | Op::UAddOverflow => self.overflow(a, b, op == Op::SAddOverflow, 1),
            Op::SSubOverflow | Op::USubOverflow => self.overflow(a, b, op == Op::SSubOverflow, -1),
            Op::SMulOverflow | Op::UMulOverflow => {
                self.product_overflow(a, b, op == Op::SMulOverflow)
            }
            _ => None,
        }
    }

    /// The difference of two words is a multiple of 2^width.
    fn equal(&mut self, a: TermId, b: TermId, width: u32) -> Option<Condition> {
        let window = 1i128 << width.min(WIDEST);
        let pairs = self.pairs(a, b)?;
        let mut parts = Vec::new();
        for (guard, a, b) in pairs {
            let difference = a.plus(-1, &b)?;
            let (low, high) = difference.range(&|variable| self.range(variable));
            let (first, last) = match width < WIDEST {
                true => (-(-low).div_euclid(window), high.div_euclid(window)),
                false => (0, 0),
            };
            if last - first >= MOST_WINDOWS {
                return None;
            }
            for multiple in first..=last {
                let number = Some(multiple * window);
                let here = self.between(&difference, number, number);
                parts.push(Condition::all(vec![guard.clone(), here]));
            }
        }
        Some(Condition::any(parts))
    }

    /// `a - b <= most`, both as signed or unsigned numbers.
    fn less(&mut self, a: TermId, b: TermId, signed: bool, most: i128) -> Option<Condition> {
        let width = self.terms.width(a);
        let (a, b) = (self.word(a)?, self.word(b)?);
        let (a, b) = (self.value(a, width, signed)?, self.value(b, width, signed)?);
        let mut parts = Vec::new();
        for (guard, a, b) in combined(a, b)? {
            let here = self.between(&a.plus(-1, &b)?, None, Some(most));
            parts.push(Condition::all(vec![guard, here]));
        }
        Some(Condition::any(parts))
    }

    /// `a + sign * b` does not fit.
    fn overflow(&mut self, a: TermId, b: TermId, signed: bool, sign: i128) -> Option<Condition> {
        let width = self.terms.width(a);
        let (a, b) = (self.word(a)?, self.word(b)?);
        let (a, b) = (self.value(a, width, signed)?, self.value(b, width, signed)?);
        let mut parts = Vec::new();
        for (guard, a, b) in combined(a, b)? {
            let here = self.outside(&a.plus(sign, &b)?, width, signed)?;
            parts.push(Condition::all(vec![guard, here]));
        }
        Some(Condition::any(parts))
    }

    /// `a * b` does not fit, where one of them is a number.
    fn product_overflow(&mut self, a: TermId, b: TermId, signed: bool) -> Option<Condition> {
        let width = self.terms.width(a);
        let (a, b) = (self.word(a)?, self.word(b)?);
        let (a, b) = (self.value(a, width, signed)?, self.value(b, width, signed)?);
        let mut parts = Vec::new();
        for (guard, a, b) in combined(a, b)? {
            let here = self.outside(&product(&a, &b)?, width, signed)?;
            parts.push(Condition::all(vec![guard, here]));
        }
        Some(Condition::any(parts))
    }

    /// The sum is no number of so many bits.
    fn outside(&self, sum: &Linear, width: u32, signed: bool) -> Option<Condition> {
        let (low, high) = limits(width, signed)?;
        let fits = self.between(sum, Some(low), Some(high));
        Some(self.negated(&fits))
    }

    fn pairs(&mut self, a: TermId, b: TermId) -> Option<Vec<(Condition, Linear, Linear)>> {
        let (a, b) = (self.word(a)?, self.word(b)?);
        combined(a, b)
    }

    /// The true value of a word that is known modulo 2^width.
    fn value(&self, pieces: Pieces, width: u32, signed: bool) -> Option<Pieces> {
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

    fn word(&mut self, id: TermId) -> Option<Pieces> {
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

    fn new_word(&mut self, id: TermId) -> Option<Pieces> {
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
    fn joined_words(&mut self, id: TermId) -> Option<Pieces> {
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
    fn parts(&self, id: TermId) -> Vec<TermId> {
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
    fn variable_at(&self, parts: &[TermId]) -> Option<(Variable, usize)> {
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

    fn extended(&mut self, a: TermId, signed: bool) -> Option<Pieces> {
        let width = self.terms.width(a);
        let pieces = self.word(a)?;
        self.value(pieces, width, signed)
    }

    fn mapped(&mut self, op: Op, a: TermId) -> Option<Pieces> {
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

    fn operation(&mut self, op: Op, a: TermId, b: TermId) -> Option<Pieces> {
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
    fn is_bit(&self, id: TermId) -> bool {
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

    fn bit(&mut self, id: TermId) -> Option<Condition> {
        match self.terms.node(id) {
            Node::Const { value, .. } => Some(Condition::truth(value == 1)),
            Node::ZExt { a, .. } => self.truth(a),
            Node::Binary { op, a, b } => self.joined_bits(op, a, b),
            _ => None,
        }
    }

    fn joined_bits(&mut self, op: Op, a: TermId, b: TermId) -> Option<Condition> {
        let (a, b) = (self.bit(a)?, self.bit(b)?);
        Some(match op {
            Op::And => Condition::all(vec![a, b]),
            Op::Or => Condition::any(vec![a, b]),
            _ => self.different(&a, &b),
        })
    }

    fn bits(&mut self, op: Op, a: TermId, b: TermId) -> Option<Pieces> {
        let holds = self.joined_bits(op, a, b)?;
        let other = self.negated(&holds);
        possible(vec![
            (holds, Linear::constant(1)),
            (other, Linear::constant(0)),
        ])
    }

    /// A word divided by a number, where nothing is left over.
    fn quotient(&mut self, a: TermId, divisor: i128) -> Option<Pieces> {
        let one = |(guard, sum): (Condition, Linear)| Some((guard, sum.over(divisor)?));
        self.extended(a, false)?.into_iter().map(one).collect()
    }

    /// The variable that a term is, all of its bytes in their order.
    fn whole_variable(&self, id: TermId) -> Option<Variable> {
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
    fn input_bytes(&self, id: TermId, bytes: &mut Vec<InputByte>) -> Option<()> {
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

    /// A condition on one variable of one byte, by trying all of its values.
    fn enumerated(&mut self, id: TermId) -> Option<Condition> {
        let support = self.supports.of(self.terms, id);
        let bytes = self.supports.bytes(support);
        let mut of_call = bytes.iter().filter_map(|byte| self.view.variable(*byte));
        let (variable, _) = of_call.next().filter(|(it, _)| self.view.size(*it) == 1)?;
        if of_call.next().is_some() {
            return None;
        }
        let (low, high) = self.view.range(variable);
        let mut set = Vec::new();
        for value in low..=high {
            let inputs = |byte: InputByte| match self.view.variable(byte) {
                Some(_) => value as u8,
                None => self.view.bytes.recorded.get(&byte).copied().unwrap_or(0),
            };
            if Evaluator::new().holds(self.terms, &inputs, id) {
                set.push(value);
            }
        }
        let sum = Linear::variable(variable);
        Some(Condition::member(sum, Set::of(set), (low, high)))
    }
}

/// The least and the greatest number of so many bits.
fn limits(width: u32, signed: bool) -> Option<(i128, i128)> {
    match (width, signed) {
        (WIDEST.., _) => None,
        (_, true) => Some((-(1 << (width - 1)), (1 << (width - 1)) - 1)),
        (_, false) => Some((0, (1 << width) - 1)),
    }
}

/// The product of two sums of which one is a number.
fn product(a: &Linear, b: &Linear) -> Option<Linear> {
    match (a.as_constant(), b.as_constant()) {
        (Some(factor), _) => b.times(factor),
        (_, Some(factor)) => a.times(factor),
        _ => None,
    }
}

/// The pieces that can be met at all; `None` if they are too many.
fn possible(mut pieces: Pieces) -> Option<Pieces> {
    pieces.retain(|(guard, _)| guard.as_truth() != Some(false));
    (pieces.len() <= MOST_PIECES).then_some(pieces)
}

/// Every piece of one word with every piece of another.
fn combined(a: Pieces, b: Pieces) -> Option<Vec<(Condition, Linear, Linear)>> {
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
fn sums(a: Pieces, b: Pieces, make: impl Fn(&Linear, &Linear) -> Option<Linear>) -> Option<Pieces> {
    let b = match b.is_empty() {
        true => vec![(Condition::truth(true), Linear::default())],
        false => b,
    };
    let one = |(guard, a, b): (Condition, Linear, Linear)| Some((guard, make(&a, &b)?));
    let pieces: Option<Pieces> = combined(a, b)?.into_iter().map(one).collect();
    possible(pieces?)
}
