//! What stands in a longer input where a part of the test's is repeated.

/// How the copies of a part differ from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Copies {
    /// Not at all.
    Same,
    /// Each has another word: a table of names takes each once.
    Distinct,
    /// Each begins with one more of its first byte: lines that are indented ever more.
    Indented,
    /// Not at all, but there are so many for each turn: a loop inside of another one turns once more each time.
    Times(u64),
    /// Not at all, but there are as many as a square table has more: of this side, and one more with each turn.
    Square(u64),
}

/// Bytes that lines are indented with.
const INDENTS: &[u8] = b" \t*#>+-=.:/";

impl Copies {
    /// So many copies for each turn.
    pub fn times(times: u64) -> Copies {
        match times {
            0 | 1 => Copies::Same,
            times => Copies::Times(times),
        }
    }

    /// Whether a part can be repeated like that.
    pub fn suit(self, part: &[u8]) -> bool {
        match self {
            Copies::Same | Copies::Times(_) | Copies::Square(_) => true,
            Copies::Distinct => part.len() > 1 && part.iter().any(u8::is_ascii_alphanumeric),
            Copies::Indented => part.len() > 1 && INDENTS.contains(&part[0]),
        }
    }

    /// How many bytes so many turns more add to a part of this size.
    pub fn size(self, part: usize, turns: u64) -> u64 {
        let each = part as u64;
        match self {
            Copies::Same => each.saturating_mul(turns),
            Copies::Times(times) => each.saturating_mul(times).saturating_mul(turns),
            // Numbers of up to 5000 copies have five digits.
            Copies::Distinct => (each + 5).saturating_mul(turns),
            Copies::Indented => each * turns + turns.saturating_mul(turns + 1) / 2,
            Copies::Square(side) => each.saturating_mul(Copies::squared(side, turns)),
        }
    }

    /// What is put in behind a part for so many turns more.
    pub fn of(self, part: &[u8], turns: u64) -> Vec<u8> {
        match self {
            Copies::Same => part.repeat(turns as usize),
            Copies::Times(times) => part.repeat((times * turns) as usize),
            Copies::Distinct => (1..=turns)
                .flat_map(|it| distinct(part, it, turns))
                .collect(),
            Copies::Indented => {
                let indented = |by: u64| [&part[..1].repeat(by as usize)[..], part].concat();
                (1..=turns).flat_map(indented).collect()
            }
            Copies::Square(side) => part.repeat(Copies::squared(side, turns) as usize),
        }
    }

    fn squared(side: u64, turns: u64) -> u64 {
        turns.saturating_mul(side.saturating_mul(2).saturating_add(turns))
    }
}

/// A part with a number in its last word, in letters where it has letters and in digits where it has digits. Words are as
/// long as the last of so many needs.
fn distinct(part: &[u8], number: u64, most: u64) -> Vec<u8> {
    let is_word = u8::is_ascii_alphanumeric;
    let Some(last) = part.iter().rposition(is_word) else {
        return part.to_vec();
    };
    let first = part[..last].iter().rposition(|byte| !is_word(byte));
    let first = first.map_or(0, |at| at + 1);
    let mut word = part[first..=last].to_vec();
    let room = |word: &[u8]| {
        let values = word.iter().map(|byte| class_of(*byte).1);
        values.fold(1u64, u64::saturating_mul)
    };
    while room(&word) <= most + 1 {
        word.extend_from_within(word.len() - 1..);
    }
    let mut carry = number;
    for byte in word.iter_mut().rev() {
        let (lowest, size) = class_of(*byte);
        let sum = u64::from(*byte - lowest) + carry;
        *byte = lowest + (sum % size) as u8;
        carry = sum / size;
    }
    [&part[..first], &word, &part[last + 1..]].concat()
}

/// The first of the bytes that may stand in the place of one, and how many there are.
fn class_of(byte: u8) -> (u8, u64) {
    match byte {
        b'0'..=b'9' => (b'0', 10),
        b'A'..=b'Z' => (b'A', 26),
        _ => (b'a', 26),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn copies_have_other_words() {
        assert_eq!(Copies::Distinct.of(b"ab=1;", 0), b"");
        assert_eq!(Copies::Distinct.of(b"ay;", 3), b"az;ba;bb;");
        let all = Copies::Distinct.of(b" x", 1000);
        let words: HashSet<&[u8]> = all.split(|byte| *byte == b' ').collect();
        assert_eq!(words.len(), 1001, "one is empty");
        assert!(all.len() as u64 <= Copies::Distinct.size(2, 1000));
        assert!(!Copies::Distinct.suit(b"()"));
    }

    #[test]
    fn copies_are_indented_ever_more() {
        assert_eq!(Copies::Indented.of(b" a\n", 2), b"  a\n   a\n");
        assert_eq!(Copies::Indented.size(3, 2), 9);
        assert!(!Copies::Indented.suit(b"a\n"));
    }

    #[test]
    fn a_square_needs_more_with_each_turn() {
        assert_eq!(Copies::Square(2).of(b"1 ", 1).len(), 10);
        assert_eq!(Copies::Square(2).size(2, 7), 2 * (81 - 4));
    }
}
