//! How many elements a rule says: numbers, ranges, expressions over other inputs.

use crate::HarnessError;
use crate::path::Path;
use crate::rules::{number, range};

/// How many elements there are, as a rule says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Amount {
    /// Any number from one to another.
    Between(u64, u64),
    /// As many as an expression over other inputs says.
    Formula(Formula<Path>),
}

/// An expression over inputs: sums, differences and products.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Formula<Name> {
    Number(i128),
    Input(Name),
    Operation(char, Box<(Formula<Name>, Formula<Name>)>),
}

impl Amount {
    /// Reads `4`, `0..8`, `n`, `n*m`, `2*(n+1)`.
    pub fn parse(text: &str) -> Result<Amount, HarnessError> {
        if text.contains("..") {
            let (low, high) = range(text)?;
            let count = |number: i128| {
                u64::try_from(number)
                    .map_err(|_| HarnessError(format!("{number} is no number of elements")))
            };
            return Ok(Amount::Between(count(low)?, count(high)?));
        }
        let mut parser = Parser { rest: text.trim() };
        let formula = parser.sum()?;
        if !parser.rest.is_empty() {
            return Err(HarnessError(format!("what is `{}`?", parser.rest)));
        }
        Ok(Amount::Formula(formula))
    }
}

impl<Name> Formula<Name> {
    /// The same expression with other names.
    pub fn map<Other, Error>(
        &self,
        name: &mut impl FnMut(&Name) -> Result<Other, Error>,
    ) -> Result<Formula<Other>, Error> {
        Ok(match self {
            Formula::Number(number) => Formula::Number(*number),
            Formula::Input(input) => Formula::Input(name(input)?),
            Formula::Operation(sign, operands) => {
                let (left, right) = &**operands;
                let operands = (left.map(name)?, right.map(name)?);
                Formula::Operation(*sign, Box::new(operands))
            }
        })
    }

    /// Changes the names.
    pub fn rename(&mut self, name: &impl Fn(&Name) -> Name) {
        match self {
            Formula::Number(_) => {}
            Formula::Input(input) => *input = name(input),
            Formula::Operation(_, operands) => {
                operands.0.rename(name);
                operands.1.rename(name);
            }
        }
    }

    /// The least and largest value, if inputs have the given ones.
    pub fn bounds(&self, input: &impl Fn(&Name) -> (i128, i128)) -> (i128, i128) {
        match self {
            Formula::Number(number) => (*number, *number),
            Formula::Input(name) => input(name),
            Formula::Operation(sign, operands) => {
                let (a, b) = (operands.0.bounds(input), operands.1.bounds(input));
                let ends = [(a.0, b.0), (a.0, b.1), (a.1, b.0), (a.1, b.1)];
                let values = ends.map(|(left, right)| apply(*sign, left, right));
                let least = values.iter().min().copied().unwrap_or(0);
                let most = values.iter().max().copied().unwrap_or(0);
                (least, most)
            }
        }
    }

    /// Its value.
    pub fn value(&self, input: &impl Fn(&Name) -> i128) -> i128 {
        self.bounds(&|name| (input(name), input(name))).0
    }
}

fn apply(sign: char, left: i128, right: i128) -> i128 {
    match sign {
        '+' => left.saturating_add(right),
        '-' => left.saturating_sub(right),
        _ => left.saturating_mul(right),
    }
}

/// Reads an expression from its start.
struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    fn sum(&mut self) -> Result<Formula<Path>, HarnessError> {
        let mut left = self.product()?;
        while let Some(sign) = self.sign(&['+', '-']) {
            let right = self.product()?;
            left = Formula::Operation(sign, Box::new((left, right)));
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Formula<Path>, HarnessError> {
        let mut left = self.atom()?;
        while let Some(sign) = self.sign(&['*']) {
            let right = self.atom()?;
            left = Formula::Operation(sign, Box::new((left, right)));
        }
        Ok(left)
    }

    /// Takes a sign; `->` is none.
    fn sign(&mut self, signs: &[char]) -> Option<char> {
        let sign = signs.iter().find(|sign| self.rest.starts_with(**sign))?;
        self.rest = self.rest[1..].trim_start();
        Some(*sign)
    }

    fn atom(&mut self) -> Result<Formula<Path>, HarnessError> {
        if let Some(inner) = self.rest.strip_prefix('(') {
            self.rest = inner.trim_start();
            let formula = self.sum()?;
            let after = self.rest.strip_prefix(')');
            let after = after.ok_or_else(|| HarnessError("a `)` is missing".into()))?;
            self.rest = after.trim_start();
            return Ok(formula);
        }
        let stars = self.rest.len() - self.rest.trim_start_matches('*').len();
        let end = stars + name_end(&self.rest[stars..]);
        let (word, after) = self.rest.split_at(end);
        if word.is_empty() {
            return Err(HarnessError(format!(
                "a number or an input is missing before `{}`",
                self.rest
            )));
        }
        self.rest = after.trim_start();
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            let value = number(word).ok_or_else(|| HarnessError(format!("what is `{word}`?")))?;
            return Ok(Formula::Number(value));
        }
        Ok(Formula::Input(Path::parse(word)?))
    }
}

/// Where the name of an input ends: `s->length+1` → 9.
fn name_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut end = 0;
    while end < bytes.len() {
        let arrow = text[end..].starts_with("->");
        let word = bytes[end].is_ascii_alphanumeric() || b"_.[]$".contains(&bytes[end]);
        if !arrow && !word {
            break;
        }
        end += if arrow { 2 } else { 1 };
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_have_values_and_bounds() {
        let Ok(Amount::Formula(formula)) = Amount::parse("2*(s->length + 1) - n") else {
            panic!("a formula");
        };
        let value = |path: &Path| if path.root == "n" { 3 } else { 5 };
        assert_eq!(formula.value(&value), 9);
        assert_eq!(formula.bounds(&|_| (0, 4)), (-2, 10));
        assert_eq!(Amount::parse("0..8"), Ok(Amount::Between(0, 8)));
        assert_eq!(Amount::parse("4"), Ok(Amount::Formula(Formula::Number(4))));
    }
}
