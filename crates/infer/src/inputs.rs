//! Tests: a valuation with contents. The sizes are decided by the valuation, the bytes by fuzzing.

use crate::environment::{Block, Environment, is_wide};
use crate::random::Random;
use crate::valuations::Valuation;

/// How contents are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fuzzing {
    /// From a small pool of characters that all blocks of a test share, often equal, with numbers at the start.
    #[default]
    Smart,
    /// Any bytes.
    Naive,
}

/// What a pointer is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// NULL.
    Null,
    /// A block of its own.
    Own,
    /// What an earlier pointer has.
    Same(usize),
}

/// One call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestCase {
    /// The values of numbers, in the order of the environment.
    pub numbers: Vec<i64>,
    /// What each pointer is given, bytes before it, and the bytes of its block.
    pub blocks: Vec<(Given, usize, Vec<u8>)>,
}

/// Pools of characters: letters, digits, what numbers begin with, what separates.
const POOLS: [&[u8]; 8] = [
    b"a",
    b"ab",
    b"0123456789",
    b"019 \t+-",
    b"aA bB/,:",
    b"abcdefghij",
    b"0a",
    b"\x01\x7f\x80\xff",
];

/// One byte for each block that no other block has.
const APART: [u8; 6] = *b"p7q8r9";

/// A test of a valuation.
pub fn test(
    environment: &Environment,
    values: &Valuation,
    fuzzing: Fuzzing,
    random: &mut Random,
) -> TestCase {
    let numbers: Vec<i64> = environment
        .numbers
        .iter()
        .map(|n| values[n.variable])
        .collect();
    let mut pool = match &environment.dictionary[..] {
        [_, ..] if random.once_in(3) => some_of(&environment.dictionary, random),
        _ => random.choose(&POOLS).to_vec(),
    };
    for number in &numbers {
        if (1..256).contains(number) && random.once_in(2) {
            pool.push(*number as u8);
        }
    }
    // Blocks that begin alike are equal as far as both go; blocks that have no byte in common are as far apart as can be.
    let is_smart = fuzzing == Fuzzing::Smart;
    let common: Option<u64> = (is_smart && random.once_in(2)).then(|| random.number());
    let apart = is_smart && common.is_none() && random.once_in(2);
    let mut blocks = Vec::with_capacity(environment.blocks.len());
    for (index, block) in environment.blocks.iter().enumerate() {
        let address = values[block.address];
        let given = match address {
            0 => Given::Null,
            own if own == index as i64 + 1 => Given::Own,
            other => Given::Same(other as usize - 1),
        };
        let size = block.of.size as usize;
        let before = block.before.map_or(0, |before| values[before]) as usize * size;
        let mut own = Random::new(common.unwrap_or_else(|| random.number()));
        let alone = [APART[index % APART.len()]];
        let pool = if apart { &alone } else { pool.as_slice() };
        let content = match given {
            Given::Own => content(block, values, pool, fuzzing, &mut own),
            _ => Vec::new(),
        };
        let mut whole = vec![b'b'; if given == Given::Own { before } else { 0 }];
        whole.extend(content);
        blocks.push((given, before, whole));
    }
    TestCase { numbers, blocks }
}

/// Gives a test the bytes of another one, as far as the valuation lets them stay: sizes and the first places of sought
/// bytes are as before.
pub fn imitate(
    environment: &Environment,
    values: &Valuation,
    template: &TestCase,
    test: &mut TestCase,
) {
    let blocks = environment.blocks.iter().zip(&template.blocks);
    for ((block, (_, start, from)), (given, before, to)) in blocks.zip(&mut test.blocks) {
        let is_plain = block.range.is_none() && block.of.members.is_empty();
        let from = from.get(*start..).unwrap_or_default();
        if *given != Given::Own || from.is_empty() || !is_plain {
            continue;
        }
        let to = &mut to[*before..];
        let length = to.len().min(from.len());
        to[..length].copy_from_slice(&from[..length]);
        let is_sought = |byte: u8| block.finds.iter().any(|(sought, _)| *sought == byte);
        let plain = *[b'z', b'y', b'w']
            .iter()
            .find(|byte| !is_sought(**byte))
            .unwrap_or(&b'v');
        let size = block.of.size as usize;
        for (byte, find) in &block.finds {
            let (sought, plain) = (element((*byte).into(), size), element(plain.into(), size));
            let at = values[*find] as usize;
            let mut elements = to.chunks_mut(size);
            for early in elements.by_ref().take(at).filter(|early| **early == sought) {
                early.copy_from_slice(&plain);
            }
            if let Some(first) = elements.next() {
                first.copy_from_slice(&sought);
            }
        }
    }
}

/// Up to four of the bytes that the code compares with.
fn some_of(dictionary: &[u8], random: &mut Random) -> Vec<u8> {
    (0..random.between(1, 4))
        .map(|_| *random.choose(dictionary))
        .collect()
}

fn content(
    block: &Block,
    values: &Valuation,
    pool: &[u8],
    fuzzing: Fuzzing,
    random: &mut Random,
) -> Vec<u8> {
    let count = values[block.bounds] as usize;
    let size = block.of.size as usize;
    if block.of.is_char || size == 1 && (block.of.is_void || !block.finds.is_empty()) {
        return characters(block, values, count, pool, fuzzing, random);
    }
    if is_wide(&block.of) {
        let narrow = characters(block, values, count, pool, fuzzing, random);
        return narrow
            .into_iter()
            .flat_map(|byte| element(byte.into(), size))
            .collect();
    }
    let is_free = block.range.is_none();
    match block.of.signed {
        // Bytes that are numbers may be characters all the same.
        Some(_) if is_free && size == 1 && random.once_in(2) => {
            characters(block, values, count, pool, fuzzing, random)
        }
        // The code may compare elements with its constants.
        Some(_) if is_free && random.once_in(3) => (0..count)
            .flat_map(|_| element(i64::from(*random.choose(pool)), size))
            .collect(),
        Some(_) => numbers(block, values, count, size, random),
        // Elements that lead elsewhere are NULL, members are set apart.
        None => vec![0; count * size],
    }
}

fn characters(
    block: &Block,
    values: &Valuation,
    count: usize,
    pool: &[u8],
    fuzzing: Fuzzing,
    random: &mut Random,
) -> Vec<u8> {
    let is_sought = |byte: u8| block.finds.iter().any(|(sought, _)| *sought == byte);
    let plain = if is_sought(b'z') { b'y' } else { b'z' };
    let any = |random: &mut Random| match fuzzing {
        Fuzzing::Naive => random.number() as u8,
        Fuzzing::Smart => *random.choose(pool),
    };
    let is_string = !block.finds.is_empty();
    // Memory that is no string may hold zeros.
    let zeros = !is_string && random.once_in(2);
    let mut bytes: Vec<u8> = (0..count)
        .map(|_| match any(random) {
            _ if zeros && random.once_in(4) => 0,
            byte if is_sought(byte) => plain,
            byte => byte,
        })
        .collect();
    for (byte, find) in &block.finds {
        let at = values[*find] as usize;
        if at < count {
            bytes[at] = *byte;
        }
        // Behind the first one there may be more.
        for later in bytes.iter_mut().skip(at + 1) {
            let is_free = !block.finds.iter().any(|(other, _)| other == later);
            if is_free && random.once_in(5) {
                *later = *byte;
            }
        }
    }
    // A later write must not have hidden the first place of another byte.
    for (byte, find) in &block.finds {
        let at = values[*find] as usize;
        for early in bytes.iter_mut().take(at).filter(|early| *early == byte) {
            *early = plain;
        }
        if at < count {
            bytes[at] = *byte;
        }
    }
    bytes
}

fn numbers(
    block: &Block,
    values: &Valuation,
    count: usize,
    size: usize,
    random: &mut Random,
) -> Vec<u8> {
    let low = if block.of.signed == Some(true) { -2 } else { 0 };
    let (least, greatest) = match block.range {
        Some((least, greatest)) => (values[least], values[greatest]),
        None => (low, 12),
    };
    let mut elements: Vec<i64> = (0..count)
        .map(|_| random.between(least, greatest))
        .collect();
    if block.range.is_some() && count > 0 {
        let last = count - 1;
        (elements[0], elements[last]) = if random.once_in(2) {
            (least, greatest)
        } else {
            (greatest, least)
        };
    }
    let bytes = |value: &i64| element(*value, size);
    elements.iter().flat_map(bytes).collect()
}

fn element(value: i64, size: usize) -> Vec<u8> {
    let mut bytes = value.to_le_bytes().to_vec();
    bytes.resize(size, 0);
    bytes
}

impl TestCase {
    /// Appends the form that the runner reads.
    pub fn write(&self, to: &mut Vec<u8>) {
        for number in &self.numbers {
            to.extend(number.to_le_bytes());
        }
        for (given, before, content) in &self.blocks {
            let kind: i32 = match given {
                Given::Null => -2,
                Given::Own => -1,
                Given::Same(other) => *other as i32,
            };
            to.extend(kind.to_le_bytes());
            to.extend((*before as u32).to_le_bytes());
            to.extend((content.len() as u64).to_le_bytes());
            to.extend(content);
            to.resize(to.len().next_multiple_of(8), 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::Wishes;
    use crate::testing::{integer, pointer, prototype};
    use crate::valuations;

    #[test]
    fn contents_are_as_the_valuation_says() {
        let prototype = prototype(&[pointer("s", true), pointer("q", true), integer("c")]);
        let wishes = Wishes {
            sentinels: vec![("q".into(), b'/')],
            aliases: true,
            ..Wishes::default()
        };
        let environment = Environment::new(&prototype, &wishes).unwrap();
        let mut random = Random::new(5);
        for turn in 0..4000 {
            let values = valuations::random(&environment, &mut random);
            assert!(
                valuations::is_consistent(&environment, &values),
                "{values:?}"
            );
            let fuzzing = if turn % 2 == 0 {
                Fuzzing::Smart
            } else {
                Fuzzing::Naive
            };
            let test = test(&environment, &values, fuzzing, &mut random);
            for (block, (given, _, content)) in environment.blocks.iter().zip(&test.blocks) {
                if *given != Given::Own {
                    continue;
                }
                assert_eq!(content.len() as i64, values[block.bounds]);
                for (byte, find) in &block.finds {
                    let first = content.iter().position(|found| found == byte);
                    let expected = values[*find];
                    assert_eq!(
                        first.unwrap_or(content.len()) as i64,
                        expected,
                        "{content:?}"
                    );
                }
            }
        }
    }
}
