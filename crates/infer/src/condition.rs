//! Formulas over the variables of one environment: evaluated quickly, and as terms for the solver.

use std::collections::BTreeSet;

use nearmiss_contracts::print::sign;
use nearmiss_contracts::{Comparison, Formula, Term};
use nearmiss_expr::{InputByte, Op, TermId, Terms};

/// A formula whose terms are variables by number.
#[derive(Clone, Debug)]
pub struct Condition {
    /// As it is written.
    pub formula: Formula,
    node: Node,
}

#[derive(Clone, Debug)]
enum Node {
    Number(i64),
    Variable(usize),
    Add(Box<Node>, Box<Node>),
    Subtract(Box<Node>, Box<Node>),
    Multiply(Box<Node>, Box<Node>),
    Remainder(Box<Node>, Box<Node>),
    BitAnd(Box<Node>, Box<Node>),
    Compare(Comparison, Box<Node>, Box<Node>),
    All(Vec<Node>),
    Any(Vec<Node>),
    Not(Box<Node>),
}

/// Bits of a variable, and of what is computed.
const VARIABLE: u32 = 32;
const COMPUTED: u32 = 64;

impl Condition {
    /// `find` knows the variables; the error is a term that is none.
    pub fn new(
        formula: &Formula,
        find: &dyn Fn(&Term) -> Option<usize>,
    ) -> Result<Condition, Term> {
        Ok(Condition {
            formula: formula.clone(),
            node: resolve(formula, find)?,
        })
    }

    /// Whether it holds.
    pub fn holds(&self, values: &[i64]) -> bool {
        evaluate(&self.node, values) != 0
    }

    /// As a C expression over the elements of `values`.
    pub fn c(&self, values: &str) -> String {
        expression(&self.node, values)
    }

    /// The variables that it needs.
    pub fn variables(&self) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        collect(&self.node, &mut found);
        found
    }

    /// As a one-bit term.
    pub fn term(&self, terms: &mut Terms) -> TermId {
        truth(&self.node, terms)
    }
}

fn resolve(formula: &Formula, find: &dyn Fn(&Term) -> Option<usize>) -> Result<Node, Term> {
    let one = |part: &Formula| resolve(part, find).map(Box::new);
    let many = |parts: &[Formula]| -> Result<Vec<Node>, Term> {
        parts.iter().map(|part| resolve(part, find)).collect()
    };
    Ok(match formula {
        Formula::Number(number) => Node::Number(*number),
        Formula::Null => Node::Number(0),
        Formula::Term(term) => Node::Variable(find(term).ok_or_else(|| term.clone())?),
        Formula::Add(left, right) => Node::Add(one(left)?, one(right)?),
        Formula::Subtract(left, right) => Node::Subtract(one(left)?, one(right)?),
        Formula::Multiply(left, right) => Node::Multiply(one(left)?, one(right)?),
        Formula::Remainder(left, right) => Node::Remainder(one(left)?, one(right)?),
        Formula::BitAnd(left, right) => Node::BitAnd(one(left)?, one(right)?),
        Formula::Compare(comparison, left, right) => {
            Node::Compare(*comparison, one(left)?, one(right)?)
        }
        Formula::All(parts) => Node::All(many(parts)?),
        Formula::Any(parts) => Node::Any(many(parts)?),
        Formula::Not(inner) => Node::Not(one(inner)?),
    })
}

fn evaluate(node: &Node, values: &[i64]) -> i64 {
    let of = |part: &Node| evaluate(part, values);
    match node {
        Node::Number(number) => *number,
        Node::Variable(index) => values[*index],
        Node::Add(left, right) => of(left).wrapping_add(of(right)),
        Node::Subtract(left, right) => of(left).wrapping_sub(of(right)),
        Node::Multiply(left, right) => of(left).saturating_mul(of(right)),
        Node::Remainder(left, right) => match of(right) {
            0 => of(left),
            divisor => of(left).wrapping_rem(divisor),
        },
        Node::BitAnd(left, right) => of(left) & of(right),
        Node::Compare(comparison, left, right) => {
            i64::from(comparison.holds(of(left).into(), of(right).into()))
        }
        Node::All(parts) => i64::from(parts.iter().all(|part| of(part) != 0)),
        Node::Any(parts) => i64::from(parts.iter().any(|part| of(part) != 0)),
        Node::Not(inner) => i64::from(of(inner) == 0),
    }
}

fn expression(node: &Node, values: &str) -> String {
    let of = |part: &Node| expression(part, values);
    let joined = |parts: &[Node], sign: &str, none: &str| match parts.is_empty() {
        true => none.to_string(),
        false => {
            let parts: Vec<String> = parts.iter().map(of).collect();
            format!("({})", parts.join(sign))
        }
    };
    match node {
        Node::Number(number) => format!("({number}LL)"),
        Node::Variable(index) => format!("{values}[{index}]"),
        Node::Add(left, right) => format!("({} + {})", of(left), of(right)),
        Node::Subtract(left, right) => format!("({} - {})", of(left), of(right)),
        Node::Multiply(left, right) => format!("({} * {})", of(left), of(right)),
        Node::Remainder(left, right) => {
            let (left, right) = (of(left), of(right));
            format!("({right} ? {left} % {right} : {left})")
        }
        Node::BitAnd(left, right) => format!("({} & {})", of(left), of(right)),
        Node::Compare(comparison, left, right) => {
            format!("({} {} {})", of(left), sign(*comparison), of(right))
        }
        Node::All(parts) => joined(parts, " && ", "1"),
        Node::Any(parts) => joined(parts, " || ", "0"),
        Node::Not(inner) => format!("!{}", of(inner)),
    }
}

fn collect(node: &Node, found: &mut BTreeSet<usize>) {
    match node {
        Node::Number(_) => {}
        Node::Variable(index) => {
            found.insert(*index);
        }
        Node::Add(left, right)
        | Node::Subtract(left, right)
        | Node::Multiply(left, right)
        | Node::Remainder(left, right)
        | Node::BitAnd(left, right)
        | Node::Compare(_, left, right) => {
            collect(left, found);
            collect(right, found);
        }
        Node::All(parts) | Node::Any(parts) => parts.iter().for_each(|part| collect(part, found)),
        Node::Not(inner) => collect(inner, found),
    }
}

fn truth(node: &Node, terms: &mut Terms) -> TermId {
    match node {
        Node::Compare(comparison, left, right) => {
            let (left, right) = (number(left, terms), number(right, terms));
            match comparison {
                Comparison::Less => terms.binary(Op::Slt, left, right),
                Comparison::LessEqual => terms.binary(Op::Sle, left, right),
                Comparison::Greater => terms.binary(Op::Slt, right, left),
                Comparison::GreaterEqual => terms.binary(Op::Sle, right, left),
                Comparison::Equal => terms.eq(left, right),
                Comparison::NotEqual => {
                    let equal = terms.eq(left, right);
                    terms.not(equal)
                }
            }
        }
        Node::All(parts) => parts.iter().fold(terms.truth(true), |all, part| {
            let part = truth(part, terms);
            terms.and(all, part)
        }),
        Node::Any(parts) => parts.iter().fold(terms.truth(false), |any, part| {
            let part = truth(part, terms);
            terms.or(any, part)
        }),
        Node::Not(inner) => {
            let inner = truth(inner, terms);
            terms.not(inner)
        }
        other => {
            let value = number(other, terms);
            let zero = terms.constant(COMPUTED, 0);
            let equal = terms.eq(value, zero);
            terms.not(equal)
        }
    }
}

fn number(node: &Node, terms: &mut Terms) -> TermId {
    let mut binary = |op: Op, left: &Node, right: &Node| {
        let (left, right) = (number(left, terms), number(right, terms));
        terms.binary(op, left, right)
    };
    match node {
        Node::Add(left, right) => binary(Op::Add, left, right),
        Node::Subtract(left, right) => binary(Op::Sub, left, right),
        Node::Multiply(left, right) => binary(Op::Mul, left, right),
        // Of a division by zero all is left: as the solver has it.
        Node::Remainder(left, right) => binary(Op::SRem, left, right),
        Node::BitAnd(left, right) => binary(Op::And, left, right),
        Node::Number(value) => terms.constant(COMPUTED, *value as u128),
        Node::Variable(index) => variable(*index, terms),
        condition => {
            let bit = truth(condition, terms);
            terms.zext(bit, COMPUTED)
        }
    }
}

/// A variable as a term: bytes of an input, one channel a variable.
fn variable(index: usize, terms: &mut Terms) -> TermId {
    let mut bytes = bytes(index).map(|byte| terms.input(byte));
    let first = bytes.next().expect("a variable has bytes");
    let rest: Vec<TermId> = bytes.collect();
    let whole = rest
        .into_iter()
        .fold(first, |low, high| terms.concat(high, low));
    terms.sext(whole, COMPUTED)
}

/// The bytes of a variable, the lowest first.
pub fn bytes(index: usize) -> impl Iterator<Item = InputByte> {
    (0..VARIABLE / 8).map(move |offset| InputByte {
        channel: index as u32,
        offset,
    })
}
