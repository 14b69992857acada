//! Formulas and the terms they are made of. Numbers are mathematical integers; a condition is one too, 0 or 1.

/// What is known of a place: a parameter, a member behind a pointer, an element, a global.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Attribute {
    /// Its value: of an integer its number, of a pointer where it points.
    Value,
    /// Elements from where a pointer points to the end of its block; 0 for NULL.
    Bounds,
    /// Elements before where a pointer points, to the start of its block; 0 for NULL.
    Before,
    /// The first element that has this value, `bounds` if none has: for 0 the length of a string.
    Find(u8),
    /// The least element; 0 if there is none.
    Least,
    /// The greatest element; 0 if there is none.
    Greatest,
}

/// An attribute of a place.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Term {
    /// What is known.
    pub attribute: Attribute,
    /// The place, as C names it: `p`, `p->length`, `p[2]`.
    pub place: String,
}

/// How two numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `>=`
    GreaterEqual,
    /// `>`
    Greater,
}

impl Comparison {
    /// What holds where this does not.
    pub fn negated(self) -> Comparison {
        match self {
            Comparison::Less => Comparison::GreaterEqual,
            Comparison::LessEqual => Comparison::Greater,
            Comparison::Equal => Comparison::NotEqual,
            Comparison::NotEqual => Comparison::Equal,
            Comparison::GreaterEqual => Comparison::Less,
            Comparison::Greater => Comparison::LessEqual,
        }
    }

    /// Whether it holds.
    pub fn holds(self, left: i128, right: i128) -> bool {
        match self {
            Comparison::Less => left < right,
            Comparison::LessEqual => left <= right,
            Comparison::Equal => left == right,
            Comparison::NotEqual => left != right,
            Comparison::GreaterEqual => left >= right,
            Comparison::Greater => left > right,
        }
    }
}

/// A formula.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Formula {
    /// A number.
    Number(i64),
    /// The null pointer.
    Null,
    /// What is known of a place.
    Term(Term),
    /// A sum.
    Add(Box<Formula>, Box<Formula>),
    /// A difference.
    Subtract(Box<Formula>, Box<Formula>),
    /// A product.
    Multiply(Box<Formula>, Box<Formula>),
    /// What is left of a division, with the sign of what is divided; of a division by 0 all of it.
    Remainder(Box<Formula>, Box<Formula>),
    /// The bits that both numbers have.
    BitAnd(Box<Formula>, Box<Formula>),
    /// A comparison.
    Compare(Comparison, Box<Formula>, Box<Formula>),
    /// All of them hold; none: true.
    All(Vec<Formula>),
    /// One of them holds; none: false.
    Any(Vec<Formula>),
    /// It does not hold.
    Not(Box<Formula>),
}

impl Formula {
    /// What always holds, or never.
    pub fn truth(holds: bool) -> Formula {
        if holds {
            Formula::All(Vec::new())
        } else {
            Formula::Any(Vec::new())
        }
    }

    /// A term.
    pub fn term(attribute: Attribute, place: &str) -> Formula {
        let place = place.to_string();
        Formula::Term(Term { attribute, place })
    }

    /// A comparison.
    pub fn compare(comparison: Comparison, left: Formula, right: Formula) -> Formula {
        Formula::Compare(comparison, Box::new(left), Box::new(right))
    }

    /// What holds where this does not, with the negation moved to the comparisons.
    pub fn negated(&self) -> Formula {
        match self {
            Formula::Compare(comparison, left, right) => {
                Formula::Compare(comparison.negated(), left.clone(), right.clone())
            }
            Formula::All(parts) => Formula::Any(parts.iter().map(Formula::negated).collect()),
            Formula::Any(parts) => Formula::All(parts.iter().map(Formula::negated).collect()),
            Formula::Not(inner) => (**inner).clone(),
            other => Formula::Not(Box::new(other.clone())),
        }
    }

    /// The parts of the formula that must all hold.
    pub fn conjuncts(&self) -> Vec<&Formula> {
        match self {
            Formula::All(parts) => parts.iter().flat_map(Formula::conjuncts).collect(),
            other => vec![other],
        }
    }

    /// Its value; `value` knows the terms.
    pub fn evaluate(&self, value: &dyn Fn(&Term) -> i128) -> i128 {
        let of = |formula: &Formula| formula.evaluate(value);
        match self {
            Formula::Number(number) => i128::from(*number),
            Formula::Null => 0,
            Formula::Term(term) => value(term),
            Formula::Add(left, right) => of(left) + of(right),
            Formula::Subtract(left, right) => of(left) - of(right),
            Formula::Multiply(left, right) => of(left) * of(right),
            Formula::Remainder(left, right) => match of(right) {
                0 => of(left),
                divisor => of(left) % divisor,
            },
            Formula::BitAnd(left, right) => of(left) & of(right),
            Formula::Compare(comparison, left, right) => {
                i128::from(comparison.holds(of(left), of(right)))
            }
            Formula::All(parts) => i128::from(parts.iter().all(|part| of(part) != 0)),
            Formula::Any(parts) => i128::from(parts.iter().any(|part| of(part) != 0)),
            Formula::Not(inner) => i128::from(of(inner) == 0),
        }
    }

    /// Every term, in the order in which they are named, each once.
    pub fn terms(&self) -> Vec<&Term> {
        let mut found = Vec::new();
        self.collect(&mut found);
        found
    }

    fn collect<'a>(&'a self, found: &mut Vec<&'a Term>) {
        match self {
            Formula::Term(term) if !found.contains(&term) => found.push(term),
            Formula::Number(_) | Formula::Null | Formula::Term(_) => {}
            Formula::Add(left, right)
            | Formula::Subtract(left, right)
            | Formula::Multiply(left, right)
            | Formula::Remainder(left, right)
            | Formula::BitAnd(left, right)
            | Formula::Compare(_, left, right) => {
                left.collect(found);
                right.collect(found);
            }
            Formula::All(parts) | Formula::Any(parts) => {
                parts.iter().for_each(|part| part.collect(found));
            }
            Formula::Not(inner) => inner.collect(found),
        }
    }

    /// How many comparisons it has.
    pub fn size(&self) -> usize {
        match self {
            Formula::Compare(..) => 1,
            Formula::All(parts) | Formula::Any(parts) => parts.iter().map(Formula::size).sum(),
            Formula::Not(inner) => inner.size(),
            _ => 0,
        }
    }
}
