//! Which values a term can have, also under the conditions of a path.

use crate::node::TermId;
use crate::terms::Terms;

/// A set of values that contains every value a term can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Bits of the term.
    pub width: u32,
    /// Least value, unsigned.
    pub low: u128,
    /// Greatest value, unsigned.
    pub high: u128,
    /// Least value, signed.
    pub signed_low: i128,
    /// Greatest value, signed.
    pub signed_high: i128,
    /// Bits that are 0 in every value.
    pub zeros: u128,
    /// Bits that are 1 in every value.
    pub ones: u128,
}

/// The ranges of one arena's terms, narrowed by the conditions of one path.
#[derive(Clone, Debug, Default)]
pub struct Ranges {}

impl Ranges {
    /// Knows nothing but the terms.
    pub fn new() -> Ranges {
        Ranges::default()
    }

    /// The range of a term.
    pub fn range(&mut self, terms: &Terms, id: TermId) -> Range {
        let width = terms.width(id);
        Range {
            width,
            low: 0,
            high: u128::MAX >> (128 - width),
            signed_low: i128::MIN >> (128 - width),
            signed_high: i128::MAX >> (128 - width),
            zeros: 0,
            ones: 0,
        }
    }

    /// From here on the one-bit `condition` is known to be `truth`.
    pub fn assume(&mut self, _terms: &Terms, _condition: TermId, _truth: bool) {}

    /// The value of a one-bit term, if its range decides it.
    pub fn truth(&mut self, terms: &Terms, condition: TermId) -> Option<bool> {
        terms.as_constant(condition).map(|value| value == 1)
    }

    /// Whether the assumptions were found to contradict each other.
    pub fn is_contradictory(&self) -> bool {
        false
    }
}
