//! Conditions for people: terms over input bytes, written as C would write them.
//!
//! Bytes that together are a variable are written by its name. Conversions are left out; whether a
//! comparison is of signed numbers shows in its constants. What is too large ends in `…`.

use nearmiss_expr::{InputByte, Node, Op, TermId, Terms};
use nearmiss_harness::Plan;

/// Operations deeper than this are left out.
const MOST_DEPTH: usize = 12;
/// A text longer than this ends early.
const MOST_LENGTH: usize = 400;

/// A condition in words.
pub fn words(terms: &Terms, plan: Option<&Plan>, condition: TermId) -> String {
    let name = |byte: InputByte| match plan {
        Some(plan) => plan.name_of(byte.offset as usize),
        None => (format!("input{}", byte.channel), byte.offset as usize),
    };
    let mut writer = Writer {
        terms,
        name: &name,
        text: String::new(),
    };
    writer.term(condition, MOST_DEPTH, Signed::Unknown);
    writer.text
}

/// Whether numbers are to be read as signed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Signed {
    Yes,
    No,
    /// Small negative numbers are more likely than huge ones.
    Unknown,
}

struct Writer<'a> {
    terms: &'a Terms,
    /// What a byte is part of, and which byte of it.
    name: &'a dyn Fn(InputByte) -> (String, usize),
    text: String,
}

impl Writer<'_> {
    fn term(&mut self, id: TermId, depth: usize, signed: Signed) {
        if self.text.len() > MOST_LENGTH || depth == 0 {
            self.text.push('…');
            return;
        }
        if let Some(variable) = self.variable(id) {
            self.text.push_str(&variable);
            return;
        }
        if let Some(equality) = self.equality(id, "==") {
            self.text.push_str(&equality);
            return;
        }
        let deeper = depth - 1;
        match self.terms.node(id) {
            Node::Const { width, value } => self.text.push_str(&number(width, value, signed)),
            Node::Input(byte) => {
                let (name, position) = (self.name)(byte);
                self.text.push_str(&format!("byte {position} of {name}"));
            }
            Node::Unary { op: Op::Not, a } if self.terms.width(a) == 1 => self.negated(a, deeper),
            Node::Unary { op, a } => self.call(unary(op), &[a], deeper, signed),
            Node::Binary { op, a, b } => self.binary(op, [a, b], deeper, signed),
            Node::Concat { high, low } => self.call("concat", &[high, low], deeper, Signed::No),
            Node::Extract { a, low: 0, .. } => self.term(a, deeper, signed),
            Node::Extract { a, low, .. } => {
                self.text.push('(');
                self.term(a, deeper, Signed::No);
                self.text.push_str(&format!(" >> {low})"));
            }
            Node::ZExt { a, .. } => self.term(a, depth, Signed::No),
            Node::SExt { a, .. } => self.term(a, depth, signed),
            Node::Ite {
                condition,
                then,
                otherwise,
            } => self.choice([condition, then, otherwise], deeper, signed),
            Node::Read { index, .. } => self.call("table", &[index], deeper, Signed::Unknown),
        }
    }

    fn binary(&mut self, op: Op, [a, b]: [TermId; 2], depth: usize, signed: Signed) {
        let signed = match op {
            Op::Slt | Op::Sle | Op::SDiv | Op::SRem | Op::AShr => Signed::Yes,
            Op::Ult | Op::Ule | Op::UDiv | Op::URem | Op::LShr => Signed::No,
            Op::Eq | Op::Ne => Signed::Unknown,
            _ => signed,
        };
        let is_bit = self.terms.width(a) == 1;
        let Some(word) = infix(op, is_bit) else {
            return self.call(op.name(), &[a, b], depth, signed);
        };
        let is_comparison = matches!(op, Op::Eq | Op::Ne | Op::Ult | Op::Ule | Op::Slt | Op::Sle);
        let outermost = self.text.is_empty() && is_comparison;
        if !outermost {
            self.text.push('(');
        }
        self.term(a, depth, signed);
        self.text.push_str(&format!(" {word} "));
        self.term(b, depth, signed);
        if !outermost {
            self.text.push(')');
        }
    }

    /// The opposite of a condition: of a comparison, the opposite comparison.
    fn negated(&mut self, id: TermId, depth: usize) {
        if let Some(difference) = self.equality(id, "!=") {
            self.text.push_str(&difference);
            return;
        }
        let Node::Binary { op, a, b } = self.terms.node(id) else {
            self.text.push('!');
            return self.term(id, depth, Signed::Unknown);
        };
        match op {
            Op::Eq => self.binary(Op::Ne, [a, b], depth, Signed::Unknown),
            Op::Ne => self.binary(Op::Eq, [a, b], depth, Signed::Unknown),
            Op::Ult => self.binary(Op::Ule, [b, a], depth, Signed::No),
            Op::Ule => self.binary(Op::Ult, [b, a], depth, Signed::No),
            Op::Slt => self.binary(Op::Sle, [b, a], depth, Signed::Yes),
            Op::Sle => self.binary(Op::Slt, [b, a], depth, Signed::Yes),
            _ => {
                self.text.push('!');
                self.term(id, depth, Signed::Unknown);
            }
        }
    }

    fn choice(&mut self, parts: [TermId; 3], depth: usize, signed: Signed) {
        for (before, part) in ["(", " ? ", " : "].into_iter().zip(parts) {
            self.text.push_str(before);
            self.term(part, depth, signed);
        }
        self.text.push(')');
    }

    fn call(&mut self, name: &str, arguments: &[TermId], depth: usize, signed: Signed) {
        self.text.push_str(name);
        self.text.push('(');
        for (position, &argument) in arguments.iter().enumerate() {
            self.text.push_str(if position == 0 { "" } else { ", " });
            self.term(argument, depth, signed);
        }
        self.text.push(')');
    }

    /// That a variable has a value: terms say so byte by byte.
    fn equality(&self, id: TermId, word: &str) -> Option<String> {
        let mut bytes = Vec::new();
        let mut stack = vec![id];
        while let Some(top) = stack.pop() {
            let Node::Binary { op, a, b } = self.terms.node(top) else {
                return None;
            };
            match (op, self.terms.node(a), self.terms.node(b)) {
                (Op::And, ..) if self.terms.width(a) == 1 => stack.extend([a, b]),
                (Op::Eq, Node::Input(byte), Node::Const { value, .. })
                | (Op::Eq, Node::Const { value, .. }, Node::Input(byte)) => {
                    bytes.push((byte, value));
                }
                _ => return None,
            }
        }
        bytes.sort_unstable();
        let name = self.whole(bytes.iter().map(|(byte, _)| *byte).collect())?;
        let values = bytes.iter().rev();
        let value = values.fold(0, |value, (_, byte)| value << 8 | byte);
        let width = 8 * bytes.len() as u32;
        let number = number(width, value, Signed::Unknown);
        Some(format!("{name} {word} {number}"))
    }

    /// The variable that a term is, whole.
    fn variable(&self, id: TermId) -> Option<String> {
        let mut bytes = Vec::new();
        let mut stack = vec![id];
        while let Some(top) = stack.pop() {
            match self.terms.node(top) {
                Node::Input(byte) => bytes.push(byte),
                // The lowest byte comes first.
                Node::Concat { high, low } => stack.extend([high, low]),
                _ => return None,
            }
        }
        self.whole(bytes)
    }

    /// The variable whose bytes these are, from the lowest on.
    fn whole(&self, bytes: Vec<InputByte>) -> Option<String> {
        let (name, first) = (self.name)(*bytes.first()?);
        let is_next =
            |(position, &byte): (usize, &InputByte)| (self.name)(byte) == (name.clone(), position);
        let whole = bytes.iter().enumerate().all(is_next);
        let behind = bytes.last().map(|last| InputByte {
            offset: last.offset + 1,
            ..*last
        });
        let ends = behind.is_none_or(|byte| (self.name)(byte).0 != name);
        (first == 0 && whole && ends).then_some(name)
    }
}

fn number(width: u32, value: u128, signed: Signed) -> String {
    let negative = value as i128 - (1i128 << width.min(126));
    let is_negative = (2..127).contains(&width) && value >> (width - 1) & 1 == 1;
    match signed {
        Signed::Yes if is_negative => negative.to_string(),
        Signed::Unknown if is_negative && negative > -4096 => negative.to_string(),
        _ => value.to_string(),
    }
}

fn unary(op: Op) -> &'static str {
    match op {
        Op::Neg => "-",
        Op::Not => "~",
        other => other.name(),
    }
}

fn infix(op: Op, is_bit: bool) -> Option<&'static str> {
    Some(match op {
        Op::Add => "+",
        Op::Sub => "-",
        Op::Mul => "*",
        Op::UDiv | Op::SDiv => "/",
        Op::URem | Op::SRem => "%",
        Op::And if is_bit => "&&",
        Op::Or if is_bit => "||",
        Op::And => "&",
        Op::Or => "|",
        Op::Xor => "^",
        Op::Shl => "<<",
        Op::LShr | Op::AShr => ">>",
        Op::Eq => "==",
        Op::Ne => "!=",
        Op::Ult | Op::Slt => "<",
        Op::Ule | Op::Sle => "<=",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two variables of four bytes: `a` at 0, `b` at 4.
    fn name(byte: InputByte) -> (String, usize) {
        let offset = byte.offset as usize;
        match offset / 4 {
            0 => ("a".into(), offset % 4),
            1 => ("b".into(), offset % 4),
            _ => (String::new(), 0),
        }
    }

    fn word(terms: &mut Terms, first: u32) -> TermId {
        let bytes = (first..first + 4).map(|offset| InputByte { channel: 0, offset });
        let bytes: Vec<TermId> = bytes.map(|byte| terms.input(byte)).collect();
        let start = bytes[0];
        bytes[1..]
            .iter()
            .fold(start, |low, &high| terms.concat(high, low))
    }

    fn text(terms: &Terms, id: TermId) -> String {
        let mut writer = Writer {
            terms,
            name: &name,
            text: String::new(),
        };
        writer.term(id, MOST_DEPTH, Signed::Unknown);
        writer.text
    }

    #[test]
    fn variables_comparisons_and_constants() {
        let terms = &mut Terms::new();
        let (a, b) = (word(terms, 0), word(terms, 4));
        let less = terms.binary(Op::Slt, a, b);
        assert_eq!(text(terms, less), "a < b");
        let not_less = terms.not(less);
        assert_eq!(text(terms, not_less), "b <= a");
        let minus_five = terms.constant(32, -5i32 as u32 as u128);
        let same = terms.eq(a, minus_five);
        assert_eq!(text(terms, same), "a == -5");
        let other = terms.not(same);
        assert_eq!(text(terms, other), "a != -5");
        let sum = terms.binary(Op::Mul, a, b);
        let ten = terms.constant(32, 10);
        let bounded = terms.binary(Op::Ult, sum, ten);
        let both = terms.and(bounded, less);
        assert!(
            text(terms, both).contains("((a * b) < 10)"),
            "{}",
            text(terms, both)
        );
        let low = terms.extract(a, 0, 8);
        assert_eq!(text(terms, low), "byte 0 of a");
    }
}
