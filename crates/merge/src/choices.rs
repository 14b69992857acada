//! Comparisons of a choice among constants with a constant, as it is where a search ended: of which of them is it true?
//!
//! ```text
//!  ite(found at 0, 0, ite(found at 1, 1, 2)) == 2   ─►   !(found at 0) & !(found at 1)
//! ```
//!
//! The solver's words would be numbers, and that nothing was found would not be seen.

use std::collections::{BTreeSet, HashMap};

use nearmiss_abi::op::{Op, ResultWidth};
use nearmiss_expr::{Node, TermId, Terms};

/// The most choices and constants that are looked at.
const MOST: usize = 128;

/// An operation on two words; comparisons are looked at.
pub fn binary(terms: &mut Terms, op: Op, a: TermId, b: TermId) -> TermId {
    let constant = |id: TermId| terms.as_constant(id).is_some();
    let decided = match (constant(a), constant(b)) {
        _ if op.result_width() != ResultWidth::Bit => None,
        (false, true) => by_constants(terms, a, |terms, leaf| terms.binary(op, leaf, b)),
        (true, false) => by_constants(terms, b, |terms, leaf| terms.binary(op, a, leaf)),
        _ => None,
    };
    decided.unwrap_or_else(|| terms.binary(op, a, b))
}

/// What is said of a choice, if all that can be chosen are constants (or choices of 1 and 0) but for one term.
fn by_constants(
    terms: &mut Terms,
    choice: TermId,
    say: impl Fn(&mut Terms, TermId) -> TermId,
) -> Option<TermId> {
    // Operands have smaller numbers than what is made of them.
    let (mut all, mut left) = (BTreeSet::new(), vec![choice]);
    let mut others = 0;
    while let Some(id) = left.pop() {
        if !all.insert(id) {
            continue;
        }
        match terms.node(id) {
            Node::Ite {
                then, otherwise, ..
            } => left.extend([then, otherwise]),
            Node::Const { .. } => {}
            Node::ZExt { a, .. } if terms.width(a) == 1 => {}
            _ => others += 1,
        }
        if all.len() > MOST || others > 1 {
            return None;
        }
    }
    let mut said: HashMap<TermId, TermId> = HashMap::new();
    for id in all {
        let here = match terms.node(id) {
            Node::Ite {
                condition,
                then,
                otherwise,
            } => terms.ite(condition, said[&then], said[&otherwise]),
            _ => say(terms, id),
        };
        said.insert(id, here);
    }
    said.get(&choice).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmiss_expr::{Evaluator, InputByte};

    /// Where the first of three bytes below 9 is, from 0 on; 3 if none is.
    fn position(terms: &mut Terms) -> (TermId, [TermId; 3]) {
        let bytes = [0, 1, 2].map(|offset| terms.input(InputByte { channel: 0, offset }));
        let limit = terms.constant(8, 9);
        let below = bytes.map(|byte| terms.binary(Op::Ult, byte, limit));
        let mut found = terms.constant(32, 3);
        for position in [2, 1, 0] {
            let here = terms.constant(32, position as u128);
            found = terms.ite(below[position], here, found);
        }
        (found, below)
    }

    #[test]
    fn nothing_found_is_that_each_is_not_it() {
        let mut terms = Terms::new();
        let (found, below) = position(&mut terms);
        let end = terms.constant(32, 3);
        let said = binary(&mut terms, Op::Eq, found, end);
        let mut none = below.map(|is_below| terms.not(is_below));
        none.sort_unstable();
        let mut parts = crate::state::conjuncts(&mut terms, said);
        parts.sort_unstable();
        assert_eq!(parts, none);
    }

    #[test]
    fn each_comparison_says_what_it_says_of_words() {
        let mut terms = Terms::new();
        let (found, _) = position(&mut terms);
        let ops = [Op::Eq, Op::Ne, Op::Ult, Op::Ule, Op::Slt, Op::Sle];
        for (op, number) in ops.into_iter().flat_map(|op| (0..5).map(move |n| (op, n))) {
            let number = terms.constant(32, number);
            for [a, b] in [[found, number], [number, found]] {
                let said = binary(&mut terms, op, a, b);
                let plain = terms.binary(op, a, b);
                for which in 0..8_u8 {
                    let value = |byte: InputByte| if which >> byte.offset & 1 == 1 { 3 } else { 9 };
                    let mut evaluator = Evaluator::new();
                    let truths = [said, plain].map(|id| evaluator.holds(&terms, &value, id));
                    assert_eq!(truths[0], truths[1], "{op:?}");
                }
            }
        }
    }
}
