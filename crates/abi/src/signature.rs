//! The types of a function or of a call, packed into one word: how a call through a pointer says what
//! it passes, and how the runtime sees whether the model of the function there can take it.
//!
//! Four bits a letter of [`crate::model::Model::signature`], the result first, from the low end.
//! The uppermost bit of a model's word says that it touches memory. What the runtime asks is inlined:
//! a library must not export names of this crate.

/// Letters that a word has room for.
const MAX_LETTERS: u32 = 15;
/// Bits of a letter.
const LETTER_BITS: u32 = 4;
/// In this order, from 1 on; 0 ends the word. `?`: a type that no model has.
const LETTERS: &[u8] = b"vilpfdxs.?";
/// The bit of [`Signature::touching_memory`].
const TOUCHES_MEMORY: u64 = 1 << 63;

/// A packed signature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signature(pub u64);

impl Signature {
    /// Packs letters. Those beyond the room are left out, which no model is long enough to miss.
    pub fn pack(letters: impl Iterator<Item = char>) -> Signature {
        let letters = letters.take(MAX_LETTERS as usize).enumerate();
        Signature(letters.fold(0, |word, (index, letter)| {
            let is_letter = |known: &&u8| **known as char == letter;
            let code = LETTERS.iter().position(|known| is_letter(&known));
            let code = code.unwrap_or(LETTERS.len() - 1) as u64 + 1;
            word | code << (index as u32 * LETTER_BITS)
        }))
    }

    /// The same of a model that touches memory which its arguments point to.
    pub const fn touching_memory(self) -> Signature {
        Signature(self.0 | TOUCHES_MEMORY)
    }

    /// Whether the model touches memory which its arguments point to.
    pub const fn touches_memory(self) -> bool {
        self.0 & TOUCHES_MEMORY != 0
    }

    /// The letter at a position, the result's at 0; `None` behind the last.
    #[inline(always)]
    pub fn letter(self, position: usize) -> Option<u8> {
        let shift = u32::try_from(position).ok()?.checked_mul(LETTER_BITS)?;
        if shift >= MAX_LETTERS * LETTER_BITS {
            return None;
        }
        let code = (self.0 >> shift & 0xf) as usize;
        LETTERS.get(code.checked_sub(1)?).copied()
    }

    /// The width of what the model takes at a position, if that is an integer or a pointer.
    #[inline(always)]
    pub fn width(self, position: usize) -> Option<u32> {
        match self.letter(position)? {
            b'i' => Some(32),
            b'l' | b'p' => Some(64),
            _ => None,
        }
    }

    /// Whether a call that passes `call` finds in registers what this model takes from there: the
    /// same classes, whatever the widths, as old-style declarations leave them open.
    #[inline(always)]
    pub fn takes(self, call: Signature) -> bool {
        let result = (self.letter(0), call.letter(0));
        let is_result_unused = result.0 == Some(b'v') || result.1 == Some(b'v');
        if !is_result_unused && !same_class(result.0, result.1) {
            return false;
        }
        let mut position = 1;
        loop {
            let letter = self.letter(position);
            match (letter, call.letter(position)) {
                (None | Some(b'.'), _) => return true,
                (expected, Some(given)) if same_class(expected, Some(given)) => position += 1,
                // `open` has a third argument in its model, and often none in a call.
                (Some(b'i'), None) => return self.letter(position + 1) == Some(b'.'),
                _ => return false,
            }
        }
    }

    /// Whether a call passes an integer of another width than this model takes.
    #[inline(always)]
    pub fn differs_in_width(self, call: Signature) -> bool {
        (1..MAX_LETTERS as usize).any(|position| {
            let widths = (self.width(position), call.width(position));
            matches!(widths, (Some(expected), Some(given)) if expected != given)
        })
    }
}

#[inline(always)]
fn same_class(a: Option<u8>, b: Option<u8>) -> bool {
    let is_integer = |letter: Option<u8>| matches!(letter, Some(b'i' | b'l' | b'p'));
    let is_known = |letter: Option<u8>| letter.is_some_and(|letter| letter != b'?');
    is_integer(a) && is_integer(b) || a == b && is_known(a)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::MODELS;

    fn packed(letters: &str) -> Signature {
        Signature::pack(letters.chars())
    }

    #[test]
    fn every_model_has_room_and_takes_its_own_signature() {
        for model in MODELS {
            assert!(
                model.signature.len() < MAX_LETTERS as usize,
                "{}",
                model.name
            );
            let whole = packed(model.signature);
            let letters = (0..).map_while(|at| whole.letter(at));
            assert!(letters.eq(model.signature.bytes()), "{}", model.name);
            assert!(whole.takes(packed(model.signature.trim_end_matches('.'))));
        }
    }

    #[test]
    fn widths_may_differ_and_classes_may_not() {
        let read = packed("lipl").touching_memory();
        assert!(read.touches_memory());
        assert!(read.takes(packed("lipl")));
        assert!(read.takes(packed("iipi")));
        assert!(read.takes(packed("vipl")));
        assert!(!read.takes(packed("lip")));
        assert!(!read.takes(packed("lipd")));
        assert!(!read.takes(packed("dipl")));
        assert!(!read.takes(packed("?ipl")));
        assert!(read.differs_in_width(packed("iipi")));
        assert!(!read.differs_in_width(packed("iipl")));
        assert!(packed("ipi.").takes(packed("ip")));
        assert!(packed("ip.").takes(packed("ipdlp")));
        assert!(!packed("ipp.").takes(packed("ip")));
        assert!(packed("vp").takes(packed("lp")));
    }
}
