//! The rows in which the harness tells what was there after the call.

use crate::{ACCEPTED, RETURNED, VERDICT};

/// What the function gave back.
pub(crate) const RESULT: &str = "nm:result";
/// The table of memory that the function made: see [`Made`].
pub(crate) const MADE: &str = "nm:made";
/// The addresses of all blocks.
pub(crate) const BLOCKS: &str = "nm:blocks";
/// The addresses of all stubs.
pub(crate) const STUBS: &str = "nm:stubs";

/// The row with a block's content; empty if it was freed.
pub(crate) fn block(number: usize) -> String {
    format!("nm:block{number}")
}

/// Whether results may say that a block was freed; an empty block looks the same here.
pub fn may_tell_of_freed(rows: &[(String, Vec<u8>)]) -> bool {
    let start = block(0);
    let start = start.trim_end_matches('0');
    rows.iter()
        .any(|(name, content)| content.is_empty() && name.starts_with(start))
}

/// The row with a global's value.
pub(crate) fn global(root: usize) -> String {
    format!("nm:global{root}")
}

/// The row with the content of a piece of memory that the function made; a string is without its zero.
pub(crate) fn made(number: usize) -> String {
    format!("{MADE}{number}")
}

/// Memory that the function made, as the harness's table has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made<'a> {
    pub address: u64,
    /// Where in the object that leads to it the pointer is.
    pub offset: u64,
    /// Number of its type: see [`crate::reach::Reach`].
    pub of: usize,
    pub text: bool,
    /// The object that leads to it: the result, blocks, roots, then what was made, in one count.
    pub source: usize,
    pub content: &'a [u8],
}

/// Bytes of a row of that table.
const MADE_SIZE: usize = 40;

/// Whether a row is not the program's own.
pub(crate) fn is_ours(name: &str) -> bool {
    let known = [ACCEPTED, VERDICT, RETURNED].contains(&name);
    known || name.starts_with("nm:")
}

/// The rows of one run.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a>(&'a [(String, Vec<u8>)]);

impl<'a> Rows<'a> {
    pub fn new(rows: &'a [(String, Vec<u8>)]) -> Rows<'a> {
        Rows(rows)
    }

    pub fn get(&self, name: &str) -> Option<&'a [u8]> {
        let row = self.0.iter().rev().find(|(row, _)| row == name);
        row.map(|(_, bytes)| bytes.as_slice())
    }

    /// Where the harness made a block.
    pub fn block_address(&self, number: usize) -> Option<u64> {
        let addresses = self.get(BLOCKS)?;
        let bytes = addresses.get(number * 8..number * 8 + 8)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    }

    /// The memory that the function made.
    pub fn made(&self) -> Vec<Made<'a>> {
        let table = self.get(MADE).unwrap_or_default();
        let rows = table.chunks_exact(MADE_SIZE).enumerate();
        let read = |(number, row): (usize, &[u8])| {
            let word = |at: usize| row[at..at + 8].try_into().map(u64::from_le_bytes).ok();
            let half = |at: usize| row[at..at + 4].try_into().map(u32::from_le_bytes).ok();
            Some(Made {
                address: word(0)?,
                offset: word(16)?,
                of: half(24)? as usize,
                text: half(28)? != 0,
                source: half(32)? as usize,
                content: self.get(&made(number))?,
            })
        };
        rows.map_while(read).collect()
    }

    /// The stub with this address.
    pub fn stub_at(&self, address: u64) -> Option<usize> {
        let mut addresses = self.get(STUBS)?.chunks_exact(8);
        addresses.position(|bytes| bytes == address.to_le_bytes())
    }
}
