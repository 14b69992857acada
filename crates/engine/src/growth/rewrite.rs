//! Terms with some of their parts replaced by others.

use std::collections::HashMap;

use nearmiss_expr::{TermId, Terms};

/// Replacements, and what became of terms so far.
#[derive(Debug, Default)]
pub struct Rewriter {
    known: HashMap<TermId, TermId>,
}

impl Rewriter {
    /// From now on the second, of the same width, stands for the first.
    pub fn replace(&mut self, term: TermId, by: TermId) {
        self.known.insert(term, by);
    }

    /// A term with all replacements made.
    pub fn rewrite(&mut self, terms: &mut Terms, term: TermId) -> TermId {
        let mut stack = vec![term];
        while let Some(&top) = stack.last() {
            if self.known.contains_key(&top) {
                stack.pop();
                continue;
            }
            let waiting = stack.len();
            let open = terms
                .operands(top)
                .filter(|it| !self.known.contains_key(it));
            stack.extend(open);
            if stack.len() == waiting {
                let new = self.rebuilt(terms, top);
                self.known.insert(top, new);
                stack.pop();
            }
        }
        self.known[&term]
    }

    /// A term whose operands were rewritten.
    fn rebuilt(&self, terms: &mut Terms, term: TermId) -> TermId {
        let new = |it: TermId| self.known[&it];
        if terms.operands(term).all(|it| new(it) == it) {
            return term;
        }
        terms.remade(terms.node(term), new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmiss_expr::{InputByte, Op};

    #[test]
    fn parts_are_replaced_wherever_they_stand() {
        let mut terms = Terms::new();
        let [a, b] = [0, 1].map(|offset| terms.input(InputByte { channel: 0, offset }));
        let wide = terms.zext(a, 32);
        let two = terms.constant(32, 2);
        let (sum, five) = (terms.binary(Op::Add, wide, two), terms.constant(32, 5));
        let low = terms.zext(b, 32);
        let all = terms.binary(Op::Mul, sum, low);
        let mut rewriter = Rewriter::default();
        rewriter.replace(sum, five);
        let expected = terms.binary(Op::Mul, five, low);
        assert_eq!(rewriter.rewrite(&mut terms, all), expected);
        assert_eq!(rewriter.rewrite(&mut terms, low), low);
    }
}
