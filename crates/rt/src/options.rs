//! The options of a recording, as `NEARMISS_OPTIONS` gives them.

use nearmiss_abi::channel::{ChannelKind, ChannelSet};
use nearmiss_abi::environment as names;
use nearmiss_abi::term::LABEL_BITS;

use crate::text::parse_number;

/// What and how much is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Most terms, with the unused term 0.
    pub terms: u64,
    /// Most events.
    pub events: u64,
    /// Most symbolic bytes of a channel.
    pub input: u64,
    /// Most bytes of blobs.
    pub blob: u64,
    /// The kinds of symbolic input.
    channels: ChannelSet,
    /// The longest that an input may become; 0: lengths are fixed.
    pub length: u64,
    /// Most elements that one load or store at a symbolic address may be about.
    pub elements: u64,
    /// Most elements that all stores at symbolic addresses may update.
    pub updates: u64,
    /// Allocations of more bytes are worth a probe where input decides on their size.
    pub allocation: u64,
    /// Whether such allocations fail: where the limit was given, which the engine does only
    /// for inputs of its own.
    pub refuses: bool,
    /// Bytes of standard input, if the engine says.
    pub stdin: Option<u64>,
    /// Whether accesses at concrete addresses are checked too.
    pub strict: bool,
}

impl Options {
    /// Nothing at all.
    pub const NONE: Options = Options {
        terms: 0,
        events: 0,
        input: 0,
        blob: 0,
        channels: ChannelSet::NONE,
        length: 0,
        elements: 0,
        updates: 0,
        allocation: 0,
        refuses: false,
        stdin: None,
        strict: false,
    };

    /// What holds without `NEARMISS_OPTIONS`.
    pub const DEFAULT: Options = Options {
        terms: names::DEFAULT_TERMS,
        events: names::DEFAULT_EVENTS,
        input: names::DEFAULT_INPUT,
        blob: names::DEFAULT_BLOB,
        channels: ChannelSet::DEFAULT,
        length: names::DEFAULT_LENGTH,
        elements: names::DEFAULT_ELEMENTS,
        updates: names::DEFAULT_UPDATES,
        allocation: names::DEFAULT_ALLOCATION,
        refuses: false,
        stdin: None,
        strict: false,
    };

    /// Reads `key=value,…`; what cannot be understood is skipped, because nobody is there to
    /// be told.
    pub fn parse(text: &[u8]) -> Options {
        let mut options = Options::DEFAULT;
        for part in text.split(|&byte| byte == b',') {
            let Some(equals) = part.iter().position(|&byte| byte == b'=') else {
                continue;
            };
            let (key, value) = (&part[..equals], &part[equals + 1..]);
            options.set(key, value);
        }
        options
    }

    fn set(&mut self, key: &[u8], value: &[u8]) {
        if key == names::OPTION_CHANNELS.as_bytes() {
            self.channels = ChannelSet::parse(value);
            return;
        }
        let Some(number) = parse_number(value) else {
            return;
        };
        // Region sizes are products of these: keep them far from overflow.
        const LARGEST: u64 = 1 << 36;
        let number = if number > LARGEST { LARGEST } else { number };
        if key == names::OPTION_TERMS.as_bytes() {
            self.terms = number.clamp(2, (1 << LABEL_BITS) - 1);
        } else if key == names::OPTION_EVENTS.as_bytes() {
            self.events = number.clamp(1, 1 << 32);
        } else if key == names::OPTION_INPUT.as_bytes() {
            self.input = number.min(u32::MAX as u64);
        } else if key == names::OPTION_BLOB.as_bytes() {
            self.blob = number.max(1 << 16);
        } else if key == names::OPTION_LENGTH.as_bytes() {
            self.length = number.min(1 << 20);
        } else if key == names::OPTION_ELEMENTS.as_bytes() {
            self.elements = number.min(1 << 16);
        } else if key == names::OPTION_UPDATES.as_bytes() {
            self.updates = number;
        } else if key == names::OPTION_ALLOCATION.as_bytes() {
            self.allocation = number;
            self.refuses = true;
        } else if key == names::OPTION_STDIN.as_bytes() {
            self.stdin = Some(number);
        } else if key == names::OPTION_STRICT.as_bytes() {
            self.strict = number != 0;
        }
    }

    /// Whether input of this kind is symbolic.
    pub fn has_channel(&self, kind: ChannelKind) -> bool {
        self.channels.contains(kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_knows_and_skips_the_rest() {
        let options = Options::parse(b"terms=100,events=x,unknown=3,input=7,channels=in,=,");
        assert_eq!(options.terms, 100);
        assert_eq!(options.events, names::DEFAULT_EVENTS);
        assert_eq!(options.input, 7);
        assert!(options.has_channel(ChannelKind::Stdin));
        assert!(options.has_channel(ChannelKind::Named));
        assert!(!options.has_channel(ChannelKind::File));
        assert_eq!(Options::parse(b""), Options::DEFAULT);
    }

    #[test]
    fn sizes_stay_where_products_cannot_overflow() {
        let options = Options::parse(b"terms=99999999999999999999,events=18446744073709551615");
        assert_eq!(options.terms, names::DEFAULT_TERMS);
        assert_eq!(options.events, 1 << 32);
    }
}
