//! An input: what each named channel holds, under numbers that are the same in all runs.

use std::collections::HashMap;

use nearmiss_expr::{InputByte, Inputs};
use nearmiss_solve::Model;
use nearmiss_trace::{Channel, RecordedPath};

/// The channels that were met so far. A channel is known by its name and by how many of that name
/// came before it.
#[derive(Debug, Default)]
pub struct Channels {
    numbers: HashMap<(Vec<u8>, u32), u32>,
    names: Vec<(Vec<u8>, u32)>,
}

impl Channels {
    /// The number of a channel, which gets one if it is new.
    pub fn number(&mut self, channel: &Channel) -> u32 {
        self.named(&channel.name, channel.index)
    }

    /// The number of the channel with this name and count.
    pub fn named(&mut self, name: &[u8], index: u32) -> u32 {
        let next = self.names.len() as u32;
        let key = (name.to_vec(), index);
        let number = *self.numbers.entry(key.clone()).or_insert(next);
        if number == next {
            self.names.push(key);
        }
        number
    }

    /// The name of a channel, and its count among those of that name.
    pub fn name(&self, number: u32) -> Option<(&[u8], u32)> {
        let (name, index) = self.names.get(number as usize)?;
        Some((name, *index))
    }
}

/// Whether a channel is no input but what a recording answered the program, kept for its twin.
pub fn is_answer(name: &[u8]) -> bool {
    [&b"klee_is_symbolic"[..], b"klee_get_obj_size"].contains(&name)
}

/// What each channel holds, by number. A channel that has no content keeps what the program
/// gives it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    contents: Vec<Option<Vec<u8>>>,
}

impl Input {
    /// An input with one channel.
    pub fn of_channel(number: u32, content: Vec<u8>) -> Input {
        let mut input = Input::default();
        input.set(number, content);
        input
    }

    /// The input of a run: what it was given, and the channels that it met beyond that.
    pub fn of_run(&self, path: &RecordedPath) -> Input {
        let mut input = self.clone();
        for (channel, &number) in path.channels.iter().zip(&path.numbers) {
            if input.content(number).is_none() || is_answer(&channel.name) {
                input.set(number, channel.content.clone());
            }
        }
        input
    }

    /// The same with other bytes.
    pub fn with(&self, model: &Model) -> Input {
        let mut input = self.clone();
        for (byte, value) in model.iter() {
            let content = input.contents.get_mut(byte.channel as usize);
            let content = content.and_then(Option::as_mut);
            if let Some(place) = content.and_then(|content| content.get_mut(byte.offset as usize)) {
                *place = value;
            }
        }
        input
    }

    /// What a channel holds.
    pub fn content(&self, number: u32) -> Option<&[u8]> {
        self.contents.get(number as usize)?.as_deref()
    }

    fn set(&mut self, number: u32, content: Vec<u8>) {
        let number = number as usize;
        if self.contents.len() <= number {
            self.contents.resize(number + 1, None);
        }
        self.contents[number] = Some(content);
    }

    /// The rows that hand it to a program: see `nearmiss_abi::environment::REPLAY`.
    pub fn rows(&self, channels: &Channels) -> Vec<u8> {
        let mut rows = Vec::new();
        for (number, content) in self.contents.iter().enumerate() {
            let Some((content, (name, index))) = content.as_ref().zip(channels.name(number as u32))
            else {
                continue;
            };
            for number in [name.len() as u32, index, content.len() as u32] {
                rows.extend(number.to_le_bytes());
            }
            rows.extend(name);
            rows.extend(content);
        }
        rows
    }
}

impl Inputs for Input {
    fn byte(&self, byte: InputByte) -> u8 {
        let content = self.content(byte.channel);
        let value = content.and_then(|content| content.get(byte.offset as usize));
        value.copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_names_and_counts() {
        let mut channels = Channels::default();
        let first = channels.named(b"x", 0);
        let second = channels.named(b"x", 1);
        assert_eq!((first, second, channels.named(b"x", 0)), (0, 1, 0));
        let input = Input::of_channel(second, vec![7, 8]);
        let byte = InputByte {
            channel: second,
            offset: 1,
        };
        let model: Model = [(byte, 9)].into_iter().collect();
        let changed = input.with(&model);
        assert_eq!((input.byte(byte), changed.byte(byte)), (8, 9));
        assert_eq!(
            changed.rows(&channels),
            b"\x01\0\0\0\x01\0\0\0\x02\0\0\0x\x07\x09"
        );
    }
}
