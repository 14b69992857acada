//! Conditions in C without branches: expressions that are 0 or 1.

use std::fmt;

/// A condition. What is known to be true or false is left out of what it is part of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Truth {
    Known(bool),
    Text(String),
}

impl Truth {
    pub const TRUE: Truth = Truth::Known(true);
    pub const FALSE: Truth = Truth::Known(false);

    pub fn not(&self) -> Truth {
        match self {
            Truth::Known(known) => Truth::Known(!known),
            Truth::Text(text) => Truth::Text(match text.strip_prefix('!') {
                Some(inner) => inner.to_string(),
                None => format!("!{text}"),
            }),
        }
    }

    pub fn and(&self, other: &Truth) -> Truth {
        self.joined(other, true, "&")
    }

    pub fn or(&self, other: &Truth) -> Truth {
        self.joined(other, false, "|")
    }

    fn joined(&self, other: &Truth, neutral: bool, sign: &str) -> Truth {
        match (self, other) {
            (Truth::Known(known), rest) | (rest, Truth::Known(known)) => match *known == neutral {
                true => rest.clone(),
                false => Truth::Known(*known),
            },
            (Truth::Text(left), Truth::Text(right)) if left == right => self.clone(),
            (Truth::Text(left), Truth::Text(right)) => {
                Truth::Text(format!("({left} {sign} {right})"))
            }
        }
    }

    /// All of them hold.
    pub fn all(truths: Vec<Truth>) -> Truth {
        balanced(truths, Truth::TRUE, Truth::and)
    }

    /// One of them holds.
    pub fn any(truths: Vec<Truth>) -> Truth {
        balanced(truths, Truth::FALSE, Truth::or)
    }
}

/// Joins neighbours until one is left: compilers do not like thousands of brackets in each other.
fn balanced(mut truths: Vec<Truth>, none: Truth, join: fn(&Truth, &Truth) -> Truth) -> Truth {
    truths.retain(|truth| *truth != none);
    while truths.len() > 1 {
        let pairs = truths.chunks(2);
        truths = pairs
            .map(|pair| match pair {
                [left, right] => join(left, right),
                _ => pair[0].clone(),
            })
            .collect();
    }
    truths.pop().unwrap_or(none)
}

impl fmt::Display for Truth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Truth::Known(known) => u8::from(*known).fmt(f),
            Truth::Text(text) => text.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_left_out() {
        let a = Truth::Text("a".into());
        let b = Truth::Text("(b < c)".into());
        assert_eq!(a.and(&Truth::TRUE), a);
        assert_eq!(a.and(&Truth::FALSE), Truth::FALSE);
        assert_eq!(Truth::FALSE.or(&a), a);
        assert_eq!(a.or(&b.not()).to_string(), "(a | !(b < c))");
        assert_eq!(a.and(&a), a);
        assert_eq!(a.not().not(), a);
    }

    #[test]
    fn many_are_joined_without_depth() {
        let many: Vec<Truth> = (0..1000).map(|n| Truth::Text(format!("x{n}"))).collect();
        let text = Truth::all(many).to_string();
        let depth = text.chars().take_while(|letter| *letter == '(').count();
        assert_eq!(depth, 10);
        assert_eq!(Truth::all(Vec::new()), Truth::TRUE);
        assert_eq!(Truth::any(Vec::new()), Truth::FALSE);
    }
}
