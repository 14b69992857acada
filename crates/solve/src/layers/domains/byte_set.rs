//! Which values a byte may have.

use nearmiss_expr::Range;

/// A set of byte values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct ByteSet([u64; 4]);

impl ByteSet {
    pub const EMPTY: ByteSet = ByteSet([0; 4]);

    pub fn of(is_in: impl FnMut(&u8) -> bool) -> ByteSet {
        let mut set = ByteSet::EMPTY;
        (0..=u8::MAX)
            .filter(is_in)
            .for_each(|value| set.insert(value));
        set
    }

    /// Those in a range.
    pub fn within(range: &Range) -> ByteSet {
        ByteSet::of(|value| range.contains(u128::from(*value)))
    }

    pub fn insert(&mut self, value: u8) {
        self.0[usize::from(value >> 6)] |= 1 << (value & 63);
    }

    pub fn remove(&mut self, value: u8) {
        self.0[usize::from(value >> 6)] &= !(1 << (value & 63));
    }

    pub fn has(&self, value: u8) -> bool {
        self.0[usize::from(value >> 6)] >> (value & 63) & 1 == 1
    }

    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    /// Its value, if it has but one.
    pub fn single(&self) -> Option<u8> {
        (self.len() == 1).then(|| self.first())
    }

    /// The least value; there must be one.
    pub fn first(&self) -> u8 {
        let word = self.0.iter().position(|word| *word != 0).unwrap_or(0);
        (word * 64) as u8 + (self.0[word].trailing_zeros() & 63) as u8
    }

    pub fn meet(&self, other: &ByteSet) -> ByteSet {
        ByteSet(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }

    pub fn join(&self, other: &ByteSet) -> ByteSet {
        ByteSet(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }

    /// Its values, from the least to the greatest.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..=u8::MAX).filter(move |value| self.has(*value))
    }
}
