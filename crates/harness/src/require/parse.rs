//! Words → expression: C's own precedence, with `=>` and quantifiers below everything.

use super::lex::{Kind, Word, words};
use super::types::CType;
use super::{Binary, Expression, Node, Place, Quantifier, Step, Trouble, Unary};

/// Operators with two operands and how strongly they bind.
const BINARY: &[(&str, Binary, u8)] = &[
    ("=>", Binary::Implies, IMPLIES),
    ("||", Binary::Or, 2),
    ("&&", Binary::And, 3),
    ("|", Binary::BitOr, BIT_OR),
    ("^", Binary::BitXor, 5),
    ("&", Binary::BitAnd, 6),
    ("==", Binary::Equal, 7),
    ("!=", Binary::Unequal, 7),
    ("<", Binary::Less, COMPARISON),
    ("<=", Binary::AtMost, COMPARISON),
    (">", Binary::Greater, COMPARISON),
    (">=", Binary::AtLeast, COMPARISON),
    ("<<", Binary::ShiftLeft, 9),
    (">>", Binary::ShiftRight, 9),
    ("+", Binary::Add, 10),
    ("-", Binary::Subtract, 10),
    ("*", Binary::Multiply, 11),
    ("/", Binary::Divide, 11),
    ("%", Binary::Remainder, 11),
];

const IMPLIES: u8 = 1;
const BIT_OR: u8 = 4;
const COMPARISON: u8 = 8;

const UNARY: &[(&str, Unary)] = &[
    ("+", Unary::Plus),
    ("-", Unary::Minus),
    ("~", Unary::Complement),
    ("!", Unary::Not),
];

/// So many brackets in each other and no more: what calls itself here must end.
const DEEPEST: u32 = 100;

/// Reads a whole requirement.
pub(super) fn parse(text: &str) -> Result<Expression, Trouble> {
    let mut parser = Parser {
        words: words(text)?,
        next: 0,
        depth: 0,
    };
    let expression = parser.binary(IMPLIES)?;
    match parser.kind() {
        Kind::End => Ok(expression),
        Kind::Symbol(")" | "]") => Err(parser.trouble("this closes nothing")),
        _ => Err(parser.trouble("expected an operator")),
    }
}

struct Parser {
    words: Vec<Word>,
    next: usize,
    depth: u32,
}

impl Parser {
    fn kind(&self) -> &Kind {
        &self.words[self.next].kind
    }

    fn at(&self) -> usize {
        self.words[self.next].at
    }

    fn trouble(&self, message: impl Into<String>) -> Trouble {
        Trouble::new(self.at(), message)
    }

    /// Goes on to the next word; the last one stays.
    fn step(&mut self) {
        self.next = (self.next + 1).min(self.words.len() - 1);
    }

    fn take(&mut self, symbol: &str) -> bool {
        let found = matches!(self.kind(), Kind::Symbol(next) if *next == symbol);
        if found {
            self.step();
        }
        found
    }

    fn expect(&mut self, symbol: &str, where_: &str) -> Result<(), Trouble> {
        match self.take(symbol) {
            true => Ok(()),
            false => Err(self.trouble(format!("expected {symbol} {where_}"))),
        }
    }

    fn name(&mut self, what: &str) -> Result<String, Trouble> {
        let Kind::Name(name) = self.kind().clone() else {
            return Err(self.trouble(format!("expected {what}")));
        };
        self.step();
        Ok(name)
    }

    /// An expression of operators that bind at least so strongly.
    fn binary(&mut self, weakest: u8) -> Result<Expression, Trouble> {
        let mut left = self.unary()?;
        let mut compared = false;
        while let Some((operation, strength)) = self.operator(weakest) {
            let at = self.at();
            if compared && strength == COMPARISON {
                let hint = "a < b < c compares a truth with c; write a < b && b < c";
                return Err(self.trouble(hint));
            }
            compared = strength == COMPARISON;
            self.step();
            // `a => b => c` is `a => (b => c)`; all others group to the left.
            let right = self.binary(if strength == IMPLIES {
                IMPLIES
            } else {
                strength + 1
            })?;
            let node = Node::Binary(operation, Box::new(left), Box::new(right));
            left = Expression { node, at };
        }
        Ok(left)
    }

    fn operator(&self, weakest: u8) -> Option<(Binary, u8)> {
        let Kind::Symbol(symbol) = self.kind() else {
            return None;
        };
        let row = BINARY.iter().find(|(name, ..)| name == symbol)?;
        (row.2 >= weakest).then_some((row.1, row.2))
    }

    fn unary(&mut self) -> Result<Expression, Trouble> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.trouble("too many brackets and quantifiers in each other"));
        }
        let found = self.unary_of_any_depth();
        self.depth -= 1;
        found
    }

    fn unary_of_any_depth(&mut self) -> Result<Expression, Trouble> {
        let at = self.at();
        let operation = UNARY.iter().find(|(symbol, _)| self.take(symbol));
        if let Some((_, operation)) = operation {
            let operand = Box::new(self.unary()?);
            let node = Node::Unary(*operation, operand);
            return Ok(Expression { node, at });
        }
        if self.take("*") {
            return further(self.unary()?, Step::Target);
        }
        let mut operand = self.primary()?;
        while let Some(step) = self.postfix()? {
            operand = further(operand, step)?;
        }
        Ok(operand)
    }

    fn postfix(&mut self) -> Result<Option<Step>, Trouble> {
        Ok(if self.take(".") {
            Some(Step::Member(self.name("the name of a member")?))
        } else if self.take("->") {
            Some(Step::Arrow(self.name("the name of a member")?))
        } else if self.take("[") {
            let index = self.binary(IMPLIES)?;
            self.expect("]", "behind the index")?;
            Some(Step::Index(index))
        } else {
            None
        })
    }

    fn primary(&mut self) -> Result<Expression, Trouble> {
        let at = self.at();
        let kind = self.kind().clone();
        self.step();
        let node = match kind {
            Kind::Number(value, ctype) => Node::Number(value, ctype),
            Kind::Name(name) => return self.named(name, at),
            Kind::Symbol("(") => {
                let inner = self.binary(IMPLIES)?;
                self.expect(")", "here")?;
                return Ok(inner);
            }
            _ => return Err(Trouble::new(at, "expected a number, a name or a bracket")),
        };
        Ok(Expression { node, at })
    }

    fn named(&mut self, name: String, at: usize) -> Result<Expression, Trouble> {
        let node = match name.as_str() {
            "forall" | "exists" => return self.quantifier(name == "forall", at),
            "count" if self.take("(") => Node::Count(self.counted()?),
            "strlen" if self.take("(") => Node::Length(self.counted()?),
            "NULL" | "nullptr" => Node::Null,
            "true" => Node::Number(1, CType::INT),
            "false" => Node::Number(0, CType::INT),
            _ if matches!(self.kind(), Kind::Symbol("(")) => {
                let hint = "functions cannot be called here: use --pre with a function in C";
                return Err(Trouble::new(at, hint));
            }
            _ => Node::Place(Place {
                name,
                steps: Vec::new(),
            }),
        };
        Ok(Expression { node, at })
    }

    /// Behind `count(`.
    fn counted(&mut self) -> Result<Place, Trouble> {
        let of = self.binary(IMPLIES)?;
        self.expect(")", "behind what is counted")?;
        match of.node {
            Node::Place(place) => Ok(place),
            _ => Err(Trouble::new(of.at, "expected an array or a pointer")),
        }
    }

    /// Behind `forall` or `exists`: `i, j in LOW..HIGH: BODY`.
    fn quantifier(&mut self, every: bool, at: usize) -> Result<Expression, Trouble> {
        let mut variables = vec![self.name("the name of a variable")?];
        while self.take(",") {
            variables.push(self.name("the name of another variable")?);
        }
        let word = self.at();
        if self.name("in").ok().as_deref() != Some("in") {
            return Err(Trouble::new(word, "expected in: forall i in 0..n: …"));
        }
        let low = self.binary(BIT_OR)?;
        let inclusive = self.take("..=");
        if !inclusive {
            self.expect("..", "between the bounds: forall i in 0..n: …")?;
        }
        let high = self.binary(BIT_OR)?;
        self.expect(":", "behind the bounds: forall i in 0..n: …")?;
        let mut body = self.binary(IMPLIES)?;
        for variable in variables.into_iter().rev() {
            let quantifier = Quantifier {
                every,
                variable,
                low: low.clone(),
                high: high.clone(),
                inclusive,
                body,
            };
            let node = Node::Quantifier(Box::new(quantifier));
            body = Expression { node, at };
        }
        Ok(body)
    }
}

/// A step further from a place.
fn further(from: Expression, step: Step) -> Result<Expression, Trouble> {
    match from.node {
        Node::Place(mut place) => {
            let step = match (step, place.steps.last()) {
                (Step::Member(name), Some(Step::Target)) => {
                    place.steps.pop();
                    Step::Arrow(name)
                }
                (step, _) => step,
            };
            place.steps.push(step);
            let node = Node::Place(place);
            Ok(Expression { node, at: from.at })
        }
        _ => Err(Trouble::new(
            from.at,
            "this has neither elements nor members",
        )),
    }
}
