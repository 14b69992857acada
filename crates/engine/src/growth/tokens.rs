//! Numbers in the text of an input, the terms of a path that are their values, and values written as such numbers.

use std::collections::{HashMap, HashSet};

use nearmiss_expr::support::{InputSet, Supports};
use nearmiss_expr::{Evaluator, InputByte, Inputs, TermId, Terms};
use nearmiss_trace::{Channel, Recorded, RecordedPath};

use super::Segment;

/// Longer rows of digits are no numbers.
const MAX_DIGITS: usize = 18;

/// A number in the text of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NumberToken {
    /// Its digits.
    pub place: Segment,
    /// 10 or 16.
    pub base: u32,
}

impl NumberToken {
    /// Its digits.
    pub fn digits<'c>(&self, channels: &'c [Channel]) -> &'c [u8] {
        &channels[self.place.channel].content[self.place.start..self.place.end]
    }

    /// The value of digits; the lowest bits of it.
    pub fn value(&self, digits: impl Iterator<Item = u8>) -> u64 {
        let base = u64::from(self.base);
        let digit = |byte: u8| (byte as char).to_digit(self.base).unwrap_or(0);
        digits.fold(0, |sum: u64, byte| {
            sum.wrapping_mul(base).wrapping_add(digit(byte).into())
        })
    }

    /// Whether a term that is larger by so much may be about the number: one digit as it is written is not.
    fn may_have(&self, added: u128, mask: u128) -> bool {
        let is_written = self.place.len() == 1 && added == u128::from(b'0');
        let size = added.min(added.wrapping_neg() & mask);
        size <= MAX_ADDED && !is_written
    }

    /// A value in the style of the test's digits: its base, its letters, its zeros in front, its sign.
    pub fn rendered(&self, channels: &[Channel], value: i64) -> (Segment, Vec<u8>) {
        let content = &channels[self.place.channel].content;
        let digits = self.digits(channels);
        let has_sign = self.place.start > 0 && content[self.place.start - 1] == b'-';
        let width = if digits[0] == b'0' { digits.len() } else { 0 };
        let size = value.unsigned_abs();
        let mut text = match self.base {
            16 if digits.iter().any(u8::is_ascii_uppercase) => format!("{size:0width$X}"),
            16 => format!("{size:0width$x}"),
            _ => format!("{size:0width$}"),
        };
        let mut place = self.place;
        if value < 0 && has_sign {
            place.start -= 1;
        } else if value < 0 {
            text.insert(0, '-');
        }
        (place, text.into_bytes())
    }
}

/// A term that is a number of the input, but for a constant that is added: `n - 1` is one term with the digits' own
/// constants.
#[derive(Clone, Copy, Debug)]
pub struct ValueTerm {
    /// The number.
    pub token: NumberToken,
    /// The term.
    pub term: TermId,
    /// What is added, in as many bits as the term has.
    pub added: u128,
}

/// Constants that are added are no larger than this.
const MAX_ADDED: u128 = 4096;

/// Terms of a path that are numbers of its input.
pub fn value_terms(path: &RecordedPath, terms: &Terms, supports: &mut Supports) -> Vec<ValueTerm> {
    let mut tokens: HashMap<InputSet, Vec<NumberToken>> = HashMap::new();
    let mut by_token: HashMap<NumberToken, Vec<TermId>> = HashMap::new();
    let conditions = path.events.iter().filter_map(|event| event.condition);
    for term in reachable(terms, conditions) {
        if !(16..=64).contains(&terms.width(term)) || terms.as_constant(term).is_some() {
            continue;
        }
        let set = supports.of(terms, term);
        let tokens = tokens
            .entry(set)
            .or_insert_with(|| tokens_of(&supports.bytes(set), &path.channels));
        for token in tokens {
            by_token.entry(*token).or_default().push(term);
        }
    }
    let mut found = Vec::new();
    let mut evaluator = Evaluator::new();
    for (token, candidates) in by_token {
        let unknown = |term: TermId| (term, None);
        let mut candidates: Vec<(TermId, Option<u128>)> =
            candidates.into_iter().map(unknown).collect();
        for change in 0..3 {
            let changed = OtherDigits {
                channels: &path.channels,
                token,
                change,
            };
            let digits = (token.place.start..token.place.end).map(|at| changed.digit(at));
            let value = u128::from(token.value(digits));
            evaluator.reset();
            candidates.retain_mut(|(term, added)| {
                let mask = u128::MAX >> (128 - terms.width(*term));
                let value_of_term = evaluator.evaluate(terms, &changed, *term);
                let difference = value_of_term.wrapping_sub(value) & mask;
                *added.get_or_insert(difference) == difference && token.may_have(difference, mask)
            });
        }
        found.extend(candidates.into_iter().map(|(term, added)| ValueTerm {
            token,
            term,
            added: added.unwrap_or(0),
        }));
    }
    found
}

/// All terms below these.
fn reachable(terms: &Terms, roots: impl Iterator<Item = TermId>) -> Vec<TermId> {
    let mut seen = HashSet::new();
    let mut stack: Vec<TermId> = roots.collect();
    let mut all = Vec::new();
    while let Some(term) = stack.pop() {
        if seen.insert(term) {
            all.push(term);
            stack.extend(terms.operands(term));
        }
    }
    all
}

/// The numbers that have exactly these bytes as their digits: in base 10, in base 16.
fn tokens_of(bytes: &[InputByte], channels: &[Channel]) -> Vec<NumberToken> {
    let Some(first) = bytes.iter().min() else {
        return Vec::new();
    };
    let is_next = |byte: &InputByte| {
        let offset = byte.offset.wrapping_sub(first.offset) as usize;
        byte.channel == first.channel && offset < bytes.len()
    };
    let channel = &channels[first.channel as usize];
    let (start, end) = (first.offset as usize, first.offset as usize + bytes.len());
    let is_content = channel.piece.is_none() && end <= channel.content.len();
    if bytes.len() > MAX_DIGITS || !is_content || !bytes.iter().all(is_next) {
        return Vec::new();
    }
    let place = Segment {
        channel: first.channel as usize,
        start,
        end,
    };
    let is_number = |base: &u32| {
        let is_digit = |at: usize| {
            let byte = channel.content.get(at);
            byte.is_some_and(|byte| (*byte as char).is_digit(*base))
        };
        let is_whole = start.checked_sub(1).is_none_or(|at| !is_digit(at)) && !is_digit(end);
        (start..end).all(is_digit) && is_whole
    };
    let before = &channel.content[start.saturating_sub(2)..start];
    let bases: &[u32] = match before.eq_ignore_ascii_case(b"0x") {
        true => &[16],
        // One digit is the same in both.
        false if end == start + 1 && is_number(&10) => &[10],
        false => &[10, 16],
    };
    let bases = bases.iter().copied().filter(is_number);
    bases.map(|base| NumberToken { place, base }).collect()
}

/// The recorded input with other digits in one place.
struct OtherDigits<'c> {
    channels: &'c [Channel],
    token: NumberToken,
    /// How they are changed; 0: not at all.
    change: u32,
}

impl OtherDigits<'_> {
    fn digit(&self, at: usize) -> u8 {
        let Segment { channel, start, .. } = self.token.place;
        let byte = self.channels[channel].content[at];
        let base = self.token.base;
        let digit = (byte as char).to_digit(base).unwrap_or(0);
        let step = self.change * (3 + (at - start) as u32);
        // The path tells letters from digits: each stays what it is.
        let new = match (base, digit) {
            (16, 10..) => 10 + (digit - 10 + step) % 6,
            _ => (digit + step) % 10,
        };
        let new = char::from_digit(new, base).unwrap_or('0') as u8;
        match byte.is_ascii_uppercase() {
            true => new.to_ascii_uppercase(),
            false => new,
        }
    }
}

impl Inputs for OtherDigits<'_> {
    fn byte(&self, byte: InputByte) -> u8 {
        let Segment {
            channel,
            start,
            end,
        } = self.token.place;
        let at = byte.offset as usize;
        match byte.channel as usize == channel && (start..end).contains(&at) {
            true => self.digit(at),
            false => Recorded(self.channels).byte(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmiss_abi::channel::ChannelKind;

    fn channel(content: &str) -> Channel {
        Channel {
            kind: ChannelKind::Argument,
            index: 1,
            name: Vec::new(),
            content: content.into(),
            piece: None,
        }
    }

    fn bytes(range: std::ops::Range<u32>) -> Vec<InputByte> {
        range
            .map(|offset| InputByte { channel: 0, offset })
            .collect()
    }

    fn rendered(content: &str, range: std::ops::Range<u32>, value: i64) -> String {
        let channels = [channel(content)];
        let token = tokens_of(&bytes(range), &channels)[0];
        let (place, text) = token.rendered(&channels, value);
        let mut content = channels[0].content.clone();
        content.splice(place.start..place.end, text);
        String::from_utf8(content).unwrap()
    }

    #[test]
    fn values_are_written_in_the_style_of_the_test() {
        assert_eq!(rendered("x=12;", 2..4, 300), "x=300;");
        assert_eq!(rendered("x=12;", 2..4, -7), "x=-7;");
        assert_eq!(rendered("x=-12;", 3..5, 300), "x=-300;");
        assert_eq!(rendered("x=-12;", 3..5, -7), "x=7;");
        assert_eq!(rendered("007", 0..3, 12), "012");
        assert_eq!(rendered("0x1F;", 2..4, 0xabc), "0xABC;");
    }

    #[test]
    fn only_whole_rows_of_digits_are_numbers() {
        let channels = [channel("a 123 b")];
        assert_eq!(tokens_of(&bytes(2..5), &channels).len(), 2);
        assert!(tokens_of(&bytes(2..4), &channels).is_empty());
        assert!(tokens_of(&bytes(1..5), &channels).is_empty());
        assert!(tokens_of(&[], &channels).is_empty());
    }
}
