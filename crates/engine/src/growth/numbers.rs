//! Numbers in text as values: what a conversion gives ranges over its type, and not only over numbers with as many
//! digits as the test has.
//!
//! ```text
//!  "x=12;"     terms of the path that are the number: 10·(b2 - 48) + (b3 - 48), whoever computed it
//!  number      eight bytes of a channel of its own stand for them; what only says that b2 and b3 are digits goes
//!  solver      path ∧ ¬check ─► the number is 300
//!  input       "x=300;"
//! ```
//!
//! Which terms are a number is found out by evaluation, not by their form: strtol, scanf and loops by hand are alike.
//! How the program reads more or fewer digits is not known, so answers are guesses.

use std::collections::{BTreeSet, HashMap, HashSet};

use nearmiss_abi::channel::ChannelKind;
use nearmiss_abi::event::EventKind;
use nearmiss_expr::support::{InputSet, Supports};
use nearmiss_expr::{Evaluator, InputByte, Inputs, TermId, Terms};
use nearmiss_solve::Model;
use nearmiss_trace::{Channel, Event, Recorded, RecordedPath};

use super::Segment;
use super::rewrite::Rewriter;
use crate::invent::contents_of;
use crate::resize::Growth;

/// Most numbers of one path that become values.
const MAX_NUMBERS: usize = 32;
/// Longer rows of digits are no numbers.
const MAX_DIGITS: usize = 18;
/// Bytes of a value.
const SIZE: usize = 8;
/// Paths with more terms are not searched.
const MAX_TERMS: usize = 1 << 20;

/// A number in the text of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NumberToken {
    /// Its digits.
    place: Segment,
    /// 10 or 16.
    base: u32,
}

/// A path on which numbers are values.
#[derive(Debug)]
pub struct NumberedPath {
    /// The path, with one channel more for each number, behind all others.
    pub path: RecordedPath,
    /// Events that depend on a value.
    pub events: BTreeSet<usize>,
    tokens: Vec<NumberToken>,
}

impl NumberToken {
    fn digits<'c>(&self, channels: &'c [Channel]) -> &'c [u8] {
        &channels[self.place.channel].content[self.place.start..self.place.end]
    }

    /// The value of digits; the lowest bits of it.
    fn value(&self, digits: impl Iterator<Item = u8>) -> u64 {
        let base = u64::from(self.base);
        let digit = |byte: u8| (byte as char).to_digit(self.base).unwrap_or(0);
        digits.fold(0, |sum: u64, byte| {
            sum.wrapping_mul(base).wrapping_add(digit(byte).into())
        })
    }

    /// A value in the style of the test's digits: its base, its letters, its zeros in front, its sign.
    fn rendered(&self, channels: &[Channel], value: i64) -> (Segment, Vec<u8>) {
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

impl NumberedPath {
    /// What each channel of the test holds when the solver's answer is written down.
    pub fn contents(&self, model: &Model) -> Vec<Vec<u8>> {
        let channels = &self.path.channels;
        let mut contents = contents_of(channels, model, Growth::End);
        let values = contents.split_off(channels.len() - self.tokens.len());
        let mut splices: Vec<(Segment, Vec<u8>)> = Vec::new();
        for ((token, value), channel) in
            (self.tokens.iter().zip(values)).zip(&channels[contents.len()..])
        {
            let bytes: [u8; SIZE] = value.as_slice().try_into().expect("a value has its size");
            if bytes != channel.content[..] {
                splices.push(token.rendered(channels, i64::from_le_bytes(bytes)));
            }
        }
        // From the last to the first, so that places stay valid.
        splices.sort_by_key(|(place, _)| std::cmp::Reverse(place.start));
        for (place, text) in splices {
            let content = &mut contents[place.channel];
            if place.end <= content.len() {
                content.splice(place.start..place.end, text);
            }
        }
        contents
    }
}

/// The path with its numbers as values; `None` if there are none on which anything depends.
pub fn with_numbers(path: &RecordedPath, terms: &mut Terms) -> Option<NumberedPath> {
    if terms.len() > MAX_TERMS {
        return None;
    }
    let mut supports = Supports::new();
    let found = value_terms(path, terms, &mut supports);
    let mut tokens: Vec<NumberToken> = found.iter().map(|(token, _)| *token).collect();
    tokens.sort_by_key(|token| (token.place, token.base));
    // In which base more digits are read is decided by those that are there.
    tokens.dedup_by_key(|token| token.place);
    tokens.truncate(MAX_NUMBERS);
    if tokens.is_empty() {
        return None;
    }
    let mut numbered = NumberedPath {
        path: path.clone(),
        events: BTreeSet::new(),
        tokens,
    };
    let first = path.channels.len();
    let mut rewriter = Rewriter::default();
    let mut spelled = InputSet::EMPTY;
    let mut values = InputSet::EMPTY;
    for (number, token) in numbered.tokens.iter().enumerate() {
        let channel = (first + number) as u32;
        numbered
            .path
            .channels
            .push(value_channel(token, &path.channels));
        numbered.path.numbers.push(channel);
        let value = value_term(terms, channel);
        for (_, term) in found.iter().filter(|(it, _)| it == token) {
            let width = terms.width(*term);
            let low = terms.truncate(value, width);
            rewriter.replace(*term, low);
        }
        for offset in token.place.start..token.place.end {
            let byte = InputByte {
                channel: token.place.channel as u32,
                offset: offset as u32,
            };
            let single = supports.single(byte);
            spelled = supports.union(spelled, single);
        }
        let set = supports.of(terms, value);
        values = supports.union(values, set);
    }
    let scans = scanned_bytes(path, terms, &mut supports);
    for (number, event) in numbered.path.events.iter_mut().enumerate() {
        if event.condition.is_some() && scans.contains(&number) {
            // That a byte is a digit is what a value needs not to be.
            event.condition = None;
            event.switched = None;
        }
        let sets = (spelled, values);
        if rewrite_event(event, terms, &mut rewriter, &mut supports, sets) {
            numbered.events.insert(number);
        }
    }
    (!numbered.events.is_empty()).then_some(numbered)
}

/// Puts values into an event; says whether it depends on one. What depends on the digits in another way is left
/// out, and what does not depend on values need not be asked again.
fn rewrite_event(
    event: &mut Event,
    terms: &mut Terms,
    rewriter: &mut Rewriter,
    supports: &mut Supports,
    (spelled, values): (InputSet, InputSet),
) -> bool {
    let is_check = matches!(event.kind, EventKind::Check | EventKind::Probe);
    event.hint = None;
    let Some(condition) = event.condition else {
        return false;
    };
    let before = supports.of(terms, condition);
    let mut depends = false;
    if supports.intersects(before, spelled) {
        let new = rewriter.rewrite(terms, condition);
        let after = supports.of(terms, new);
        event.binding = None;
        event.switched = event.switched.map(|it| rewriter.rewrite(terms, it));
        if supports.intersects(after, spelled) || terms.as_constant(new).is_some() {
            event.condition = None;
            event.switched = None;
        } else {
            event.condition = Some(new);
            depends = supports.intersects(after, values);
        }
    }
    if is_check && !depends {
        event.kind = EventKind::Assume;
    }
    depends
}

/// Events that look for the end of a row of digits: decisions about one byte, at a site that looks at the next byte
/// too. A number of one digit is the same term as its digit, and only this tells what is asked of which.
fn scanned_bytes(path: &RecordedPath, terms: &Terms, supports: &mut Supports) -> HashSet<usize> {
    let mut single = Vec::new();
    let mut seen: HashSet<(u64, InputByte)> = HashSet::new();
    for (number, event) in path.events.iter().enumerate() {
        let Some(condition) = event.condition.filter(|_| event.is_decision()) else {
            continue;
        };
        let set = supports.of(terms, condition);
        let mut bytes = supports.bytes(set);
        bytes.retain(|byte| path.channels[byte.channel as usize].piece.is_none());
        if let [byte] = bytes[..] {
            seen.insert((event.site.0, byte));
            single.push((number, event.site.0, byte));
        }
    }
    let scans = single.into_iter().filter(|(_, site, byte)| {
        let next = InputByte {
            offset: byte.offset + 1,
            ..*byte
        };
        seen.contains(&(*site, next))
    });
    scans.map(|(number, ..)| number).collect()
}

fn value_channel(token: &NumberToken, channels: &[Channel]) -> Channel {
    let value = token.value(token.digits(channels).iter().copied());
    Channel {
        kind: ChannelKind::Named,
        index: 0,
        name: b"number".to_vec(),
        content: value.to_le_bytes().to_vec(),
        piece: None,
    }
}

/// The bytes of a value as one term.
fn value_term(terms: &mut Terms, channel: u32) -> TermId {
    let mut value = terms.input(InputByte { channel, offset: 0 });
    for offset in 1..SIZE as u32 {
        let byte = terms.input(InputByte { channel, offset });
        value = terms.concat(byte, value);
    }
    value
}

/// Terms of a path that are numbers of its input, each with which.
fn value_terms(
    path: &RecordedPath,
    terms: &Terms,
    supports: &mut Supports,
) -> Vec<(NumberToken, TermId)> {
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
    for (token, mut candidates) in by_token {
        for change in 0..3 {
            let changed = OtherDigits {
                channels: &path.channels,
                token,
                change,
            };
            let digits = (token.place.start..token.place.end).map(|at| changed.digit(at));
            let value = u128::from(token.value(digits));
            evaluator.reset();
            candidates.retain(|term| {
                let mask = u128::MAX >> (128 - terms.width(*term));
                evaluator.evaluate(terms, &changed, *term) == value & mask
            });
        }
        found.extend(candidates.into_iter().map(|term| (token, term)));
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
        // Letters are told apart from digits by the path: each stays what it is.
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
        let token = tokens_of(&bytes(range), &channels).pop().expect("a number");
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
