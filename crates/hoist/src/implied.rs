//! Requirements that others imply, as a reader knows them: what a term is, is known here, and not only which bytes it is made of.
//!
//! A string is at most as long as its bounds, and NULL has none of either: so `bounds(s) > strlen(s)` says that `s` is not NULL.

use std::time::Duration;

use nearmiss_contracts::{Attribute, Comparison, Formula, Term};
use nearmiss_expr::{InputByte, Op, TermId, Terms};
use nearmiss_solve::{Answer, Limits, Stack, TreeSession};

/// Wide enough for all sums, and products with small numbers.
const WIDTH: u32 = 128;
/// Bytes of a term: of a number of 64 bits with or without a sign.
const BYTES: u32 = 9;
/// For one question.
const QUERY_TIME: Duration = Duration::from_millis(300);

/// Drops requirements that the others imply, the last first. That a pointer is not NULL stays, unless its string has an end:
/// a person looks for it.
pub fn drop_implied<T>(found: &mut Vec<T>, formula: impl Fn(&T) -> &Formula) {
    for number in (0..found.len()).rev() {
        let others: Vec<Formula> = (found.iter().enumerate())
            .filter(|(other, _)| *other != number)
            .map(|(_, it)| formula(it).clone())
            .collect();
        let one = formula(&found[number]);
        if !is_wanted(one, &others) && is_implied(one, &others) {
            found.remove(number);
        }
    }
}

/// `p != NULL` without `bounds(p) > strlen(p)`.
fn is_wanted(formula: &Formula, others: &[Formula]) -> bool {
    let Formula::Compare(Comparison::NotEqual, left, right) = formula else {
        return false;
    };
    let (Formula::Term(term), Formula::Null) = (&**left, &**right) else {
        return false;
    };
    let end = Formula::compare(
        Comparison::Greater,
        Formula::term(Attribute::Bounds, &term.place),
        Formula::term(Attribute::Find(0), &term.place),
    );
    !others.contains(&end)
}

/// Whether a requirement holds wherever the others do.
pub fn is_implied(formula: &Formula, others: &[Formula]) -> bool {
    if others.iter().chain([formula]).any(has_products) {
        return false;
    }
    let mut asked = Asked {
        terms: Terms::new(),
        known: Vec::new(),
    };
    let mut assumed: Vec<TermId> = others.iter().map(|it| asked.truth(it)).collect();
    let holds = asked.truth(formula);
    assumed.extend(asked.axioms());
    let goal = asked.terms.not(holds);
    let zero = |_: InputByte| 0;
    let limits = Limits::time(QUERY_TIME);
    let mut session: TreeSession = Stack::default().tree();
    let reply = session.query(&mut asked.terms, &assumed, goal, &zero, &limits);
    matches!(reply.answer, Answer::Unsat)
}

/// Whether two terms are multiplied.
fn has_products(formula: &Formula) -> bool {
    match formula {
        Formula::Multiply(left, right) => !left.terms().is_empty() && !right.terms().is_empty(),
        Formula::All(parts) | Formula::Any(parts) => parts.iter().any(has_products),
        Formula::Not(inner) => has_products(inner),
        Formula::Add(left, right)
        | Formula::Subtract(left, right)
        | Formula::Remainder(left, right)
        | Formula::BitAnd(left, right)
        | Formula::Compare(_, left, right) => has_products(left) || has_products(right),
        Formula::Number(_) | Formula::Null | Formula::Term(_) => false,
    }
}

/// Formulas as terms of the solver; each term of a contract is a number of its own.
struct Asked {
    terms: Terms,
    known: Vec<Term>,
}

impl Asked {
    fn number(&mut self, number: i128) -> TermId {
        self.terms.constant(WIDTH, number as u128)
    }

    /// A term of a contract.
    fn term(&mut self, term: &Term) -> TermId {
        let known = self.known.iter().position(|it| it == term);
        let channel = known.unwrap_or_else(|| {
            self.known.push(term.clone());
            self.known.len() - 1
        }) as u32;
        let byte = |offset| InputByte { channel, offset };
        let mut word = self.terms.input(byte(0));
        for offset in 1..BYTES {
            let high = self.terms.input(byte(offset));
            word = self.terms.concat(high, word);
        }
        self.terms.sext(word, WIDTH)
    }

    fn value(&mut self, formula: &Formula) -> TermId {
        let op = match formula {
            Formula::Number(number) => return self.number(i128::from(*number)),
            Formula::Null => return self.number(0),
            Formula::Term(term) => return self.term(term),
            Formula::Add(..) => Op::Add,
            Formula::Subtract(..) => Op::Sub,
            Formula::Multiply(..) => Op::Mul,
            Formula::Remainder(..) => Op::SRem,
            Formula::BitAnd(..) => Op::And,
            other => {
                let truth = self.truth(other);
                return self.terms.zext(truth, WIDTH);
            }
        };
        match formula {
            Formula::Add(left, right)
            | Formula::Subtract(left, right)
            | Formula::Multiply(left, right)
            | Formula::Remainder(left, right)
            | Formula::BitAnd(left, right) => {
                let (left, right) = (self.value(left), self.value(right));
                self.terms.binary(op, left, right)
            }
            _ => unreachable!("all others have returned"),
        }
    }

    fn truth(&mut self, formula: &Formula) -> TermId {
        match formula {
            Formula::Compare(comparison, left, right) => {
                let (left, right) = (self.value(left), self.value(right));
                self.compare(*comparison, left, right)
            }
            Formula::All(parts) => {
                let mut all = self.terms.truth(true);
                for part in parts {
                    let part = self.truth(part);
                    all = self.terms.and(all, part);
                }
                all
            }
            Formula::Any(parts) => {
                let mut any = self.terms.truth(false);
                for part in parts {
                    let part = self.truth(part);
                    any = self.terms.or(any, part);
                }
                any
            }
            Formula::Not(inner) => {
                let inner = self.truth(inner);
                self.terms.not(inner)
            }
            other => {
                let value = self.value(other);
                let zero = self.number(0);
                self.compare(Comparison::NotEqual, value, zero)
            }
        }
    }

    fn compare(&mut self, comparison: Comparison, left: TermId, right: TermId) -> TermId {
        let (op, left, right, is_negated) = match comparison {
            Comparison::Equal => (Op::Eq, left, right, false),
            Comparison::NotEqual => (Op::Eq, left, right, true),
            Comparison::Less => (Op::Sle, right, left, true),
            Comparison::LessEqual => (Op::Sle, left, right, false),
            Comparison::Greater => (Op::Sle, left, right, true),
            Comparison::GreaterEqual => (Op::Sle, right, left, false),
        };
        let holds = self.terms.binary(op, left, right);
        match is_negated {
            true => self.terms.not(holds),
            false => holds,
        }
    }

    /// What is known of the terms that were named.
    fn axioms(&mut self) -> Vec<TermId> {
        let known = self.known.clone();
        let mut all = Vec::new();
        for term in &known {
            let at = |attribute| Formula::term(attribute, &term.place);
            let least = |left, right| Formula::compare(Comparison::LessEqual, left, right);
            let null = Formula::compare(Comparison::Equal, at(Attribute::Value), Formula::Null);
            match term.attribute {
                Attribute::Bounds => {
                    let none = Formula::compare(
                        Comparison::Equal,
                        at(Attribute::Bounds),
                        Formula::Number(0),
                    );
                    let has_none = Formula::Any(vec![null.negated(), none]);
                    all.push(self.truth(&has_none));
                    let positive = least(Formula::Number(0), at(Attribute::Bounds));
                    all.push(self.truth(&positive));
                }
                Attribute::Before => {
                    let positive = least(Formula::Number(0), at(Attribute::Before));
                    all.push(self.truth(&positive));
                }
                Attribute::Find(_) => {
                    let length = at(term.attribute);
                    let positive = least(Formula::Number(0), length.clone());
                    let within = least(length, at(Attribute::Bounds));
                    let none = Formula::compare(
                        Comparison::Equal,
                        at(Attribute::Bounds),
                        Formula::Number(0),
                    );
                    let has_none = Formula::Any(vec![null.negated(), none]);
                    for axiom in [positive, within, has_none] {
                        all.push(self.truth(&axiom));
                    }
                }
                _ => {}
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use nearmiss_contracts::parse;

    use super::*;

    #[test]
    fn what_terms_are_is_known() {
        let read = |text: &str| parse(text).unwrap();
        for (one, others, expected) in [
            ("s != NULL", &["bounds(s) > strlen(s)"][..], true),
            (
                "s != NULL || n > 0",
                &["n > 0 || bounds(s) > strlen(s)"],
                true,
            ),
            (
                "bounds(s) > 0 || n <= 1",
                &["bounds(s) > strlen(s) || bounds(s) >= n - 1"],
                true,
            ),
            ("bounds(s) > 0", &["s != NULL"], false),
            ("n < 9", &["n < 10"], false),
            ("n < 10", &["n < 9"], true),
            (
                "strlen(s) < 4",
                &["bounds(s) < 5", "bounds(s) > strlen(s)"],
                true,
            ),
        ] {
            let others: Vec<Formula> = others.iter().map(|it| read(it)).collect();
            assert_eq!(is_implied(&read(one), &others), expected, "{one}");
        }
    }

    #[test]
    fn a_null_pointer_is_said_where_no_string_says_it() {
        let read = |text: &&str| parse(text).unwrap();
        let left = |texts: &[&str]| {
            let mut all: Vec<Formula> = texts.iter().map(read).collect();
            drop_implied(&mut all, |it| it);
            all.iter().map(Formula::to_string).collect::<Vec<_>>()
        };
        assert_eq!(left(&["p != NULL", "bounds(p) > 0"]).len(), 2);
        let string = "bounds(p) > strlen(p)";
        assert_eq!(left(&["p != NULL", "bounds(p) > 0", string]), [string]);
    }
}
