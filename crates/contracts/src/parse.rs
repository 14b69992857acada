//! Text → formula: C's operators and precedence, and the terms of contracts.

use std::fmt;

use crate::formula::{Attribute, Comparison, Formula, Term};

/// What is wrong with a text, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContractError {
    /// What was expected.
    pub expected: String,
    /// The text.
    pub text: String,
    /// The byte at which it goes wrong.
    pub at: usize,
}

impl fmt::Display for ContractError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = self.text[..self.at.min(self.text.len())].chars().count();
        let space = " ".repeat(column);
        write!(f, "expected {}\n  {}\n  {space}^", self.expected, self.text)
    }
}

impl std::error::Error for ContractError {}

/// Brackets and signs one within the other: no text exhausts the stack.
const MAX_DEPTH: usize = 64;

/// Reads a formula.
pub fn parse(text: &str) -> Result<Formula, ContractError> {
    let mut reader = Reader {
        text,
        at: 0,
        depth: 0,
    };
    let formula = reader.implication()?;
    reader.space();
    if reader.at < text.len() {
        return Err(reader.expected("an operator or the end"));
    }
    Ok(formula)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

/// Two characters before one: `<=` is not `<`.
const COMPARISONS: [(&str, Comparison); 6] = [
    ("<=", Comparison::LessEqual),
    (">=", Comparison::GreaterEqual),
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

impl Reader<'_> {
    fn expected(&self, what: &str) -> ContractError {
        ContractError {
            expected: what.to_string(),
            text: self.text.to_string(),
            at: self.at,
        }
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn accept(&mut self, word: &str) -> bool {
        self.space();
        let found = self.rest().starts_with(word);
        if found {
            self.at += word.len();
        }
        found
    }

    fn demand(&mut self, word: &str) -> Result<(), ContractError> {
        if self.accept(word) {
            Ok(())
        } else {
            Err(self.expected(word))
        }
    }

    /// `a ==> b` is `!a || b`, and binds weakest.
    fn implication(&mut self) -> Result<Formula, ContractError> {
        let premise = self.any()?;
        if !self.accept("==>") {
            return Ok(premise);
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.expected("fewer implications"));
        }
        let conclusion = self.implication()?;
        self.depth -= 1;
        let parts = [premise.negated(), conclusion];
        Ok(Formula::Any(
            parts.into_iter().flat_map(disjuncts).collect(),
        ))
    }

    fn any(&mut self) -> Result<Formula, ContractError> {
        let mut parts = vec![self.all()?];
        while self.accept("||") {
            parts.push(self.all()?);
        }
        Ok(single_or(parts, Formula::Any))
    }

    fn all(&mut self) -> Result<Formula, ContractError> {
        let mut parts = vec![self.bits()?];
        while self.accept("&&") {
            parts.push(self.bits()?);
        }
        Ok(single_or(parts, Formula::All))
    }

    /// `a & b` binds weaker than a comparison, as in C.
    fn bits(&mut self) -> Result<Formula, ContractError> {
        let mut bits = self.comparison()?;
        loop {
            self.space();
            if self.rest().starts_with("&&") || !self.accept("&") {
                return Ok(bits);
            }
            bits = Formula::BitAnd(Box::new(bits), Box::new(self.comparison()?));
        }
    }

    fn comparison(&mut self) -> Result<Formula, ContractError> {
        let left = self.sum()?;
        self.space();
        if self.rest().starts_with("==>") {
            return Ok(left);
        }
        for (word, comparison) in COMPARISONS {
            if self.accept(word) {
                let right = self.sum()?;
                return Ok(Formula::compare(comparison, left, right));
            }
        }
        Ok(left)
    }

    fn sum(&mut self) -> Result<Formula, ContractError> {
        let mut sum = self.product()?;
        loop {
            if self.accept("+") {
                sum = Formula::Add(Box::new(sum), Box::new(self.product()?));
            } else if self.accept("-") {
                sum = Formula::Subtract(Box::new(sum), Box::new(self.product()?));
            } else {
                return Ok(sum);
            }
        }
    }

    fn product(&mut self) -> Result<Formula, ContractError> {
        let mut product = self.factor()?;
        loop {
            if self.accept("*") {
                product = Formula::Multiply(Box::new(product), Box::new(self.factor()?));
            } else if self.accept("%") {
                product = Formula::Remainder(Box::new(product), Box::new(self.factor()?));
            } else {
                return Ok(product);
            }
        }
    }

    fn factor(&mut self) -> Result<Formula, ContractError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.expected("fewer brackets"));
        }
        let formula = self.unguarded_factor();
        self.depth -= 1;
        formula
    }

    fn unguarded_factor(&mut self) -> Result<Formula, ContractError> {
        self.space();
        let next = self.rest().chars().next();
        match next {
            Some('(') => {
                self.demand("(")?;
                let inner = self.implication()?;
                self.demand(")")?;
                Ok(inner)
            }
            Some('!') => {
                self.demand("!")?;
                Ok(self.factor()?.negated())
            }
            Some('-') => {
                self.demand("-")?;
                let inner = self.factor()?;
                Ok(match inner {
                    Formula::Number(number) => Formula::Number(-number),
                    other => Formula::Subtract(Box::new(Formula::Number(0)), Box::new(other)),
                })
            }
            Some('\'') => self.character().map(|byte| Formula::Number(byte.into())),
            Some(digit) if digit.is_ascii_digit() => self.number(),
            Some(letter) if letter.is_alphabetic() || letter == '_' || letter == '*' => self.term(),
            _ => Err(self.expected("a number, a name or a bracket")),
        }
    }

    fn number(&mut self) -> Result<Formula, ContractError> {
        let rest = self.rest();
        let is_part = |letter: char| letter.is_ascii_alphanumeric();
        let word = &rest[..rest.find(|l| !is_part(l)).unwrap_or(rest.len())];
        let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
        let number = match digits.strip_prefix("0x") {
            Some(digits) => i64::from_str_radix(digits, 16),
            None => digits.parse(),
        };
        let number = number.map_err(|_| self.expected("a number of 64 bits"))?;
        self.at += word.len();
        Ok(Formula::Number(number))
    }

    /// `'c'`, `'\0'`, `'\n'`, `'\x2f'`.
    fn character(&mut self) -> Result<u8, ContractError> {
        self.demand("'")?;
        let rest = self.rest();
        let end = rest.get(1..).and_then(|tail| tail.find('\''));
        let end = end.ok_or_else(|| self.expected("a character and a quote"))? + 1;
        let byte = match &rest.as_bytes()[..end] {
            [byte] => Some(*byte),
            [b'\\', b'n'] => Some(b'\n'),
            [b'\\', b't'] => Some(b'\t'),
            [b'\\', b'0'] => Some(0),
            [b'\\', b'x', ..] => u8::from_str_radix(&rest[2..end], 16).ok(),
            [b'\\', byte] => Some(*byte),
            _ => None,
        };
        let byte = byte.ok_or_else(|| self.expected("a character"))?;
        self.at += end + 1;
        Ok(byte)
    }

    fn term(&mut self) -> Result<Formula, ContractError> {
        let start = self.at;
        let name = self.place()?;
        if name == "NULL" {
            return Ok(Formula::Null);
        }
        if !self.accept("(") {
            return Ok(Formula::term(Attribute::Value, &name));
        }
        self.space();
        let place = self.place()?;
        let attribute = match name.as_str() {
            "bounds" => Attribute::Bounds,
            "before" => Attribute::Before,
            "strlen" => Attribute::Find(0),
            "least" => Attribute::Least,
            "greatest" => Attribute::Greatest,
            "find" => {
                self.demand(",")?;
                self.space();
                Attribute::Find(self.character()?)
            }
            _ => {
                self.at = start;
                let known = "one of bounds, before, strlen, find, least, greatest";
                return Err(self.expected(known));
            }
        };
        self.demand(")")?;
        Ok(Formula::Term(Term { attribute, place }))
    }

    /// A name with members and elements behind it.
    fn place(&mut self) -> Result<String, ContractError> {
        let start = self.at;
        while self.rest().starts_with('*') {
            self.at += 1;
        }
        self.word()?;
        loop {
            if self.rest().starts_with("->") {
                self.at += 2;
                self.word()?;
            } else if self.rest().starts_with('.') {
                self.at += 1;
                self.word()?;
            } else if self.rest().starts_with('[') {
                let end = self.rest().find(']');
                self.at += end.ok_or_else(|| self.expected("]"))? + 1;
            } else {
                return Ok(self.text[start..self.at].to_string());
            }
        }
    }

    fn word(&mut self) -> Result<(), ContractError> {
        let rest = self.rest();
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
        let size = rest.find(|l| !is_part(l)).unwrap_or(rest.len());
        if size == 0 || rest.starts_with(|letter: char| letter.is_ascii_digit()) {
            return Err(self.expected("a name"));
        }
        self.at += size;
        Ok(())
    }
}

/// The parts of which one must hold.
fn disjuncts(formula: Formula) -> Vec<Formula> {
    match formula {
        Formula::Any(parts) if !parts.is_empty() => parts,
        other => vec![other],
    }
}

fn single_or(mut parts: Vec<Formula>, make: fn(Vec<Formula>) -> Formula) -> Formula {
    if parts.len() == 1 {
        parts.remove(0)
    } else {
        make(parts)
    }
}
