//! The rows in which the harness tells what was there after the call.

use crate::{ACCEPTED, RETURNED, VERDICT};

/// What the function gave back.
pub(crate) const RESULT: &str = "nm:result";
/// What that points to, if it is none of the harness's blocks: elements.
pub(crate) const RESULT_TARGET: &str = "nm:result*";
/// The same, if it is a string: without its zero.
pub(crate) const RESULT_TEXT: &str = "nm:result-text";
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

    /// The stub with this address.
    pub fn stub_at(&self, address: u64) -> Option<usize> {
        let mut addresses = self.get(STUBS)?.chunks_exact(8);
        addresses.position(|bytes| bytes == address.to_le_bytes())
    }
}
