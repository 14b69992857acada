//! What C computes, as text without branches and without undefined behaviour.

use super::truth::Truth;
use super::types::CType;
use super::values::Values;
use super::{Binary, Unary};

/// A part of a requirement as C.
#[derive(Clone, Debug)]
pub(super) struct Written {
    /// An expression that may always be computed, in brackets if it needs them.
    pub text: String,
    pub ctype: CType,
    pub values: Values,
    /// Whether C defines what it is.
    pub defined: Truth,
    /// 1 for a pointer that points to something: it may be compared with NULL only.
    pub is_pointer: bool,
}

impl Written {
    pub fn new(text: String, ctype: CType, values: Values) -> Written {
        // What is known to be one number is that number.
        let text = values.only().map_or(text, |value| ctype.literal(value));
        Written {
            text,
            ctype,
            values,
            defined: Truth::TRUE,
            is_pointer: false,
        }
    }

    pub fn constant(value: i128, ctype: CType) -> Written {
        Written::new(String::new(), ctype, Values::new(value, value))
    }

    pub fn of_truth(truth: &Truth) -> Written {
        let values = match truth {
            Truth::Known(known) => Values::new((*known).into(), (*known).into()),
            Truth::Text(_) => Values::TRUTHS,
        };
        Written::new(truth.to_string(), CType::INT, values)
    }

    /// The same, defined only if this holds too.
    pub fn if_defined(mut self, condition: &Truth) -> Written {
        self.defined = condition.and(&self.defined);
        self
    }

    /// Whether it is not zero.
    pub fn truth(&self) -> Truth {
        match self.values.only() {
            Some(value) => Truth::Known(value != 0),
            None if !self.values.contains(0) => Truth::TRUE,
            None if self.values == Values::TRUTHS => Truth::Text(self.text.clone()),
            None => Truth::Text(format!("({} != 0)", self.text)),
        }
    }

    /// Whether all its values are values of another type.
    pub fn fits(&self, ctype: CType) -> bool {
        ctype.holds(self.values.least) && ctype.holds(self.values.greatest)
    }

    /// Whether a sum, difference or product of two ints may be none.
    pub fn computed_beyond(&self, operation: Binary, other: &Written) -> bool {
        let grows = [Binary::Add, Binary::Subtract, Binary::Multiply].contains(&operation);
        let ctype = self.ctype.common(other.ctype);
        let values = self.values.computed(operation, other.values, ctype);
        let all_fit = ctype.holds(values.least) && ctype.holds(values.greatest);
        grows && ctype == CType::INT && !all_fit
    }

    /// As a value of another type.
    pub fn converted(&self, ctype: CType) -> Written {
        if self.ctype == ctype {
            return self.clone();
        }
        let text = format!("(({}){})", ctype.name(), self.text);
        Written::new(text, ctype, self.values.converted(ctype)).if_defined(&self.defined)
    }
}

/// `-x`, `~x`, `!x`.
pub(super) fn unary(operation: Unary, operand: &Written) -> Written {
    let zero = Written::constant(0, operand.ctype);
    let computed = match operation {
        Unary::Plus => operand.clone(),
        Unary::Minus => binary(Binary::Subtract, &zero, operand),
        Unary::Complement => {
            let ones = Written::constant(operand.ctype.wrapped(-1), operand.ctype);
            binary(Binary::BitXor, operand, &ones)
        }
        Unary::Not => Written::of_truth(&operand.truth().not()),
    };
    // All of these need their operand, and nothing else.
    Written {
        defined: operand.defined.clone(),
        ..computed
    }
}

/// Everything with two operands but `&&`, `||` and `=>`.
pub(super) fn binary(operation: Binary, left: &Written, right: &Written) -> Written {
    let both = left.defined.and(&right.defined);
    let computed = match operation {
        Binary::ShiftLeft | Binary::ShiftRight => shift(operation, left, right),
        _ => {
            let ctype = left.ctype.common(right.ctype);
            let (left, right) = (&left.converted(ctype), &right.converted(ctype));
            match operation {
                Binary::Divide | Binary::Remainder => quotient(operation, left, right),
                _ => match comparison(operation) {
                    Some(sign) => Written::of_truth(&compared(sign, left, right)),
                    None => modular(operation, left, right),
                },
            }
        }
    };
    let defined = both.and(&computed.defined);
    Written {
        defined,
        ..computed
    }
}

fn comparison(operation: Binary) -> Option<&'static str> {
    Some(match operation {
        Binary::Equal => "==",
        Binary::Unequal => "!=",
        Binary::Less => "<",
        Binary::AtMost => "<=",
        Binary::Greater => ">",
        Binary::AtLeast => ">=",
        _ => return None,
    })
}

/// Both of one type. What their values decide needs no code.
fn compared(sign: &str, left: &Written, right: &Written) -> Truth {
    let (a, b) = (left.values, right.values);
    let apart = a.greatest < b.least || b.greatest < a.least;
    let same = a.only().is_some() && a.only() == b.only();
    let known = match sign {
        "==" if apart || same => Some(same),
        "!=" if apart || same => Some(apart),
        "<" => decided(a.greatest < b.least, a.least >= b.greatest),
        "<=" => decided(a.greatest <= b.least, a.least > b.greatest),
        ">" => decided(a.least > b.greatest, a.greatest <= b.least),
        ">=" => decided(a.least >= b.greatest, a.greatest < b.least),
        _ => None,
    };
    match known {
        Some(known) => Truth::Known(known),
        None if sign == "==" && b.only() == Some(0) && a == Values::TRUTHS => left.truth().not(),
        None => Truth::Text(format!("({} {sign} {})", left.text, right.text)),
    }
}

fn decided(always: bool, never: bool) -> Option<bool> {
    (always || never).then_some(always)
}

/// What wraps: computed without a sign, where C defines that.
fn modular(operation: Binary, left: &Written, right: &Written) -> Written {
    let ctype = left.ctype;
    let sign = match operation {
        Binary::Add => "+",
        Binary::Subtract => "-",
        Binary::Multiply => "*",
        Binary::BitAnd => "&",
        Binary::BitOr => "|",
        _ => "^",
    };
    let values = left.values.computed(operation, right.values, ctype);
    // One number stays one when it wraps; an interval may not.
    let values = values.converted(ctype);
    let text = match ctype.signed {
        false => format!("({} {sign} {})", left.text, right.text),
        true => {
            let (name, unsigned) = (ctype.name(), ctype.unsigned().name());
            let (left, right) = (&left.text, &right.text);
            format!("(({name})(({unsigned}){left} {sign} ({unsigned}){right}))")
        }
    };
    Written::new(text, ctype, values)
}

/// `a / b` or `a % b`. Where C does not define it, or the processor would trap, 1 takes the place of
/// b: right for the smallest number by -1, which wraps, and of no interest for 0.
fn quotient(operation: Binary, left: &Written, right: &Written) -> Written {
    let ctype = left.ctype;
    let constant = |value| Written::constant(value, ctype);
    let is_zero = compared("==", right, &constant(0));
    let overflows = match ctype.signed {
        true => compared("==", left, &constant(ctype.least())).and(&compared(
            "==",
            right,
            &constant(-1),
        )),
        false => Truth::FALSE,
    };
    let name = ctype.name();
    let divisor = match is_zero.or(&overflows) {
        Truth::Known(false) => right.text.clone(),
        bad => format!("(({} & -({name})!{bad}) | ({name}){bad})", right.text),
    };
    let sign = if operation == Binary::Divide {
        "/"
    } else {
        "%"
    };
    let text = format!("({} {sign} {divisor})", left.text);
    let values = left.values.computed(operation, right.values, ctype);
    Written::new(text, ctype, values.converted(ctype)).if_defined(&is_zero.not())
}

/// `a << b` or `a >> b`, of a's type.
fn shift(operation: Binary, left: &Written, right: &Written) -> Written {
    let (name, unsigned) = (left.ctype.name(), left.ctype.unsigned().name());
    let bits = i128::from(left.ctype.bits());
    let within = |sign, bound| compared(sign, right, &Written::constant(bound, right.ctype));
    let defined = within(">=", 0).and(&within("<", bits));
    let count = format!("((unsigned){} & {}u)", right.text, bits - 1);
    let text = match operation {
        Binary::ShiftLeft => format!("(({name})(({unsigned}){} << {count}))", left.text),
        _ => format!("({} >> {count})", left.text),
    };
    Written::new(text, left.ctype, Values::of_type(left.ctype)).if_defined(&defined)
}
