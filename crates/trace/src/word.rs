//! Words of the input that are compared with texts of another length: what an [`EventKind::Word`] tells.
//!
//! [`EventKind::Word`]: nearmiss_abi::event::EventKind::Word

use nearmiss_abi::event::{Event, WORD_LENGTH_SIZE};
use nearmiss_abi::site::SiteId;
use nearmiss_expr::{InputByte, Node, TermId, Terms};

use crate::raw::RawTrace;

/// A word of the input that is compared with a text of another length.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Word {
    /// Its first byte.
    pub start: InputByte,
    /// Its bytes.
    pub length: u32,
    /// What it is compared with.
    pub text: Vec<u8>,
    /// Where: the call, or the comparison of the program's own.
    pub site: SiteId,
}

/// Those of a path.
#[derive(Default)]
pub(crate) struct Words(pub Vec<Word>);

impl Words {
    /// Adds what an event tells, whose first byte is this term, and gives its number; `None` if that is no byte of the
    /// input as it was read.
    pub fn add(
        &mut self,
        raw: &RawTrace,
        event: &Event,
        terms: &Terms,
        start: TermId,
    ) -> Option<u32> {
        let Node::Input(start) = terms.node(start) else {
            return None;
        };
        let snapshot = raw.snapshots.get(usize::from(event.aux))?;
        let bytes = raw.blob(snapshot.blob_offset, snapshot.size)?;
        let (length, text) = bytes.split_first_chunk::<WORD_LENGTH_SIZE>()?;
        self.0.push(Word {
            start,
            length: u32::from_le_bytes(*length),
            text: text.to_vec(),
            site: SiteId(event.site),
        });
        Some(self.0.len() as u32 - 1)
    }
}
