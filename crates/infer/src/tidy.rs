//! Formulas as a reader expects them: equalities, and the larger side first.

use nearmiss_contracts::{Attribute, Comparison, Formula};

/// `a <= b && b <= a` is `a == b`; what is not compared with 0 in the usual way is.
pub fn tidy(formula: &Formula) -> Formula {
    let many = |parts: &[Formula]| parts.iter().map(tidy).collect::<Vec<Formula>>();
    match formula {
        Formula::All(parts) => Formula::All(equalities(many(parts))),
        Formula::Any(parts) => Formula::Any(inequalities(many(parts))),
        Formula::Compare(Comparison::NotEqual, left, right) => match (&**left, &**right) {
            // Counts are not negative.
            (Formula::Term(term), Formula::Number(0)) if term.attribute != Attribute::Value => {
                Formula::Compare(
                    Comparison::GreaterEqual,
                    left.clone(),
                    Box::new(Formula::Number(1)),
                )
            }
            _ => formula.clone(),
        },
        // The larger side first, where the smaller is only compared: `bounds(p) > strlen(q)`.
        Formula::Compare(comparison, left, right) => {
            let turned = match comparison {
                Comparison::Less => Comparison::Greater,
                Comparison::LessEqual => Comparison::GreaterEqual,
                Comparison::Greater => Comparison::Less,
                Comparison::GreaterEqual => Comparison::LessEqual,
                same => *same,
            };
            if matches!(**left, Formula::Number(_)) {
                return Formula::Compare(turned, right.clone(), left.clone());
            }
            let is_bounds = |side: &Formula| matches!(side, Formula::Term(term) if term.attribute == Attribute::Bounds);
            if is_bounds(right) && !is_bounds(left) {
                Formula::Compare(turned, right.clone(), left.clone())
            } else {
                formula.clone()
            }
        }
        other => other.clone(),
    }
}

fn equalities(parts: Vec<Formula>) -> Vec<Formula> {
    let mut kept: Vec<Formula> = Vec::new();
    for part in parts {
        let opposite = kept.iter().position(|earlier| is_opposite(earlier, &part));
        match (opposite, &part) {
            (Some(index), Formula::Compare(Comparison::Greater, ..)) => {
                if let Formula::Compare(_, left, right) = kept[index].clone() {
                    kept[index] = Formula::Compare(Comparison::Equal, left, right);
                }
            }
            (Some(index), Formula::Compare(_, left, right)) => {
                kept[index] = Formula::Compare(Comparison::Equal, left.clone(), right.clone());
            }
            _ => kept.push(part),
        }
    }
    kept
}

/// `n < 0 || n > 0` is `n != 0`.
fn inequalities(parts: Vec<Formula>) -> Vec<Formula> {
    let negated: Vec<Formula> = parts.iter().map(Formula::negated).collect();
    if equalities(negated).len() == parts.len() {
        return parts;
    }
    let negated = parts.iter().map(Formula::negated).collect();
    let shorter = equalities(negated);
    shorter.iter().map(Formula::negated).collect()
}

/// Whether one says `a <= b` and the other `b <= a`, or `a >= b`.
fn is_opposite(first: &Formula, second: &Formula) -> bool {
    let (Formula::Compare(one, a, b), Formula::Compare(other, c, d)) = (first, second) else {
        return false;
    };
    use Comparison::{GreaterEqual, LessEqual};
    match (one, other) {
        (LessEqual, LessEqual) | (GreaterEqual, GreaterEqual) => a == d && b == c,
        (LessEqual, GreaterEqual) | (GreaterEqual, LessEqual) => a == c && b == d,
        // `n > 0 && n <= 1`
        (Comparison::Greater, LessEqual) => a == c && is_one_apart(b, d),
        (LessEqual, Comparison::Greater) => a == c && is_one_apart(d, b),
        _ => false,
    }
}

fn is_one_apart(low: &Formula, high: &Formula) -> bool {
    matches!((low, high), (Formula::Number(low), Formula::Number(high)) if low + 1 == *high)
}
