//! The data that a target depends on: inputs that decide whether a run can still come there.
//!
//! Where one way of a decision leads to the target and another does not, the inputs of that decision are *relevant*.
//! Of alternatives that are equally far those come first that are about relevant inputs: others may change
//! nothing that matters.

use nearmiss_expr::{InputSet, Supports, TermId, Terms};

/// The relevant inputs that were met so far.
#[derive(Debug)]
pub struct Relevance {
    supports: Supports,
    relevant: InputSet,
}

impl Default for Relevance {
    fn default() -> Relevance {
        Relevance {
            supports: Supports::new(),
            relevant: InputSet::EMPTY,
        }
    }
}

impl Relevance {
    /// A decision on this condition can lose sight of the target.
    pub fn learn(&mut self, terms: &Terms, condition: TermId) {
        let inputs = self.supports.of(terms, condition);
        self.relevant = self.supports.union(self.relevant, inputs);
    }

    /// Whether a condition is about relevant inputs.
    pub fn has(&mut self, terms: &Terms, condition: TermId) -> bool {
        let inputs = self.supports.of(terms, condition);
        self.supports.intersects(self.relevant, inputs)
    }
}

#[cfg(test)]
mod tests {
    use nearmiss_expr::InputByte;

    use super::*;

    #[test]
    fn what_shares_an_input_with_a_decisive_condition_is_relevant() {
        let mut terms = Terms::new();
        let mut byte = |offset| {
            let input = terms.input(InputByte { channel: 0, offset });
            let zero = terms.constant(8, 0);
            terms.eq(input, zero)
        };
        let (first, second) = (byte(0), byte(1));
        let both = terms.and(first, second);
        let mut relevance = Relevance::default();
        assert!(!relevance.has(&terms, both));
        relevance.learn(&terms, first);
        assert!(relevance.has(&terms, first) && relevance.has(&terms, both));
        assert!(!relevance.has(&terms, second));
    }
}
