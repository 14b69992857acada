//! The boundary between test code and the code under test: in a variant of a program that is built for it,
//! every function that test code may call announces its calls, and the data of chosen calls are inputs.
//!
//! ```text
//!  f(s, n):   slots = [s, n]   __nm_call_begin(&CALL, slots, frame, caller)   s, n = slots   …   __nm_call_end(frame, value, 1)   return value
//! ```
//!
//! `libc/calls.c` is the side of the program and of its twins, `rt::boundary` what only a recording can do.
//!
//! A call is at the boundary if no other announced call is under way. Boundary calls are numbered from 1.

/// The function that is called where a function of the code under test begins.
pub const BEGIN: &str = "__nm_call_begin";
/// The function that is called before it returns: a number or a pointer that it returns, and whether there is one.
pub const END: &str = "__nm_call_end";
/// The function that stands where test code would end the program because an expectation failed.
pub const FAILED: &str = "__nm_test_failed";
/// The function that says whether the test goes on where it would leave by a jump because an expectation failed.
pub const GOES_ON: &str = "__nm_test_goes_on";
/// Before the name of an expectation of a framework stands what test code calls in its place (`libc/call_expectations.c`).
pub const EXPECTATION: &str = "__nm_expect";
/// The function that is called where code under test ends the program because an assertion of its own failed.
pub const ASSERTS: &str = "__nm_call_asserts";

/// The function that is called before a format that is no literal is used.
pub const FORMAT: &str = "__nm_call_format";
/// The function that is called where test code forks.
pub const FORK: &str = "__nm_call_fork";

/// The variable that says which boundary calls have inputs, `FIRST-LAST/KINDS/FORMATS/TEXTS/FORKS:WORD,WORD…`: the kinds are `n` if
/// numbers are inputs, and `s` if numbers in structures are; the formats are parameters that stay as they are,
/// `FUNCTION#PARAMETER,…`, and so are the texts, which are given with their length and without a zero; the forks lead to the process that makes the calls, `FORK.FORK…`; a word says what a call of the test's
/// own run was, from the first on: digests of the numbers and of the function's name, what kind of number it returned ([`returned`]), and a bit for each null
/// pointer; behind the word of the last call of the same test stands a [`TEST_ENDS`]. Or it names the file in which all calls are to be listed, a line for each; behind a [`LOOKS`] it is also looked
/// whether texts that are given with their length need their zero. It is taken out of the
/// environment before the first call.
pub const CALLS: &str = "NEARMISS_CALLS";
/// Stands behind the word of the last call of a test.
pub const TEST_ENDS: &str = "!";
/// Stands before the file for the list of calls.
pub const LOOKS: &str = "*";

/// What calls of the test's own run returned: eight bits of a word of [`CALLS`].
pub mod returned {
    /// The lowest of the bits; there is nothing in them where the function returns no number.
    pub const SHIFT: u32 = 24;
    /// The kinds: zero or null; above zero; below, of which each number is of its own kind.
    pub const KINDS: core::ops::RangeInclusive<u64> = 1..=0xff;
}

/// Two characters for each parameter: what it is, and a digit for the bytes of a number or element.
///
/// | letter | what |
/// | --- | --- |
/// | `n` | a number |
/// | `e` | an enumeration |
/// | `k` | a pointer to constant numbers (`0`: to `const void`) |
/// | `m` | a pointer to numbers that may be changed (`0`: to `void`) |
/// | `u` | a pointer to something unknown |
/// | `o` | a pointer to anything else |
/// | `-` | none of these |
pub mod parameter {
    /// A number.
    pub const NUMBER: char = 'n';
    /// An enumeration.
    pub const ENUMERATION: char = 'e';
    /// A pointer to constant numbers.
    pub const CONSTANT: char = 'k';
    /// A pointer to numbers that may be changed.
    pub const MUTABLE: char = 'm';
    /// A pointer to something unknown.
    pub const UNKNOWN: char = 'u';
    /// A pointer to anything else.
    pub const OTHER: char = 'o';
    /// None of these.
    pub const NONE: char = '-';
}

/// How the data behind a pointer is given to a call: the bits of a channel's index.
pub mod shape {
    /// The number of the parameter, from 0.
    pub const PARAMETER: u32 = 0xff;
    /// The data lies in a block of its own, of exactly its size: the test's own may not be written to.
    pub const MOVES: u32 = 1 << 8;
    /// A zero follows that is not part of it, of as many bytes as an element has.
    pub const IS_STRING: u32 = 1 << 9;
    /// It has no other length.
    pub const IS_FIXED: u32 = 1 << 10;
    /// The argument itself is the number; or, with no bytes of an element, numbers in the structure that it leads to are,
    /// one behind another. The channel's name says which: `NUMBER:FUNCTION:FIELD@OFFSETs4,…`, `s` for signed, `u` for not.
    pub const IS_PLAIN: u32 = 1 << 11;

    /// A text whose length the call says, and that has no zero behind it, other than the test's own.
    pub const IS_BARE: u32 = 1 << 21;

    /// Bytes of an element.
    pub const fn element(index: u32) -> u32 {
        index >> 12 & 0xf
    }

    /// The number of the parameter, from 1, that says how many elements there are; 0 if none does.
    pub const fn tied(index: u32) -> u32 {
        index >> 16 & 0x1f
    }

    /// How much more it says.
    pub const fn more(index: u32) -> u32 {
        index >> 24 & 1
    }

    /// Least bytes of it: the call may rely on them. Of what is fixed the lowest bit says that other pointers lead into it.
    pub const fn least(index: u32) -> u32 {
        index >> 25
    }

    /// Elements at the start of data among which a count is looked for.
    const FIRST: usize = 4;

    /// Which bytes of data say how much of it there is, where no number of the call does: they stay as they are. These are a
    /// count of what follows it among the first elements, or of all at the very start, and a last element of ones; in a
    /// text a first byte that is no character and says how many follow.
    // In the runtime itself: this crate's own code would bring more of the standard library with it.
    #[inline]
    pub fn kept(index: u32, content: &[u8]) -> [core::ops::Range<usize>; 2] {
        let size = (element(index) as usize).max(1);
        let count = content.len() / size;
        if index & IS_PLAIN != 0 || tied(index) != 0 || count < 2 {
            return [0..0, 0..0];
        }
        // Without indices: the runtime has no panics, since these would bring the standard library's messages with them.
        let bytes = |at: usize| content.get(at * size..(at + 1) * size).unwrap_or_default();
        let value = |at: usize| {
            let word = bytes(at).iter().rev();
            word.fold(0, |word: u64, byte| word << 8 | u64::from(*byte))
        };
        if index & IS_STRING != 0 {
            let is_counted = size == 1 && value(0) < 0x20 && value(0) == count as u64 - 1;
            return [0..usize::from(is_counted), 0..0];
        }
        let says = |at: &usize| value(*at) == (count - 1 - at) as u64;
        let first = (value(0) == count as u64).then_some(0);
        let first = first.or_else(|| (0..FIRST.min(count - 1)).find(says));
        let is_end = bytes(count - 1).iter().all(|byte| *byte == 0xff);
        [
            first.map_or(0..0, |at| at * size..(at + 1) * size),
            if is_end {
                (count - 1) * size..count * size
            } else {
                0..0
            },
        ]
    }
}

/// Most characters that say which numbers a structure has: `INDEX:FIELD@OFFSETs4,…;` for each parameter that leads to one.
pub const MOST_FIELDS: usize = 600;

/// Most parameters of a function whose calls are announced.
pub const MOST_PARAMETERS: usize = 16;

#[cfg(test)]
mod tests {
    use super::shape::{IS_STRING, kept};

    #[test]
    fn what_says_how_much_there_is_stays() {
        let bytes = 1 << 12;
        let words = 2 << 12;
        assert_eq!(kept(bytes, &[3, 7, 8, 9]), [0..1, 0..0]);
        assert_eq!(kept(bytes, &[4, 7, 8, 9]), [0..1, 0..0]);
        assert_eq!(kept(bytes, &[0x30, 3, 7, 8, 9]), [1..2, 0..0]);
        assert_eq!(kept(words, &[9, 0, 5, 0, 0xff, 0xff]), [0..0, 4..6]);
        assert_eq!(kept(bytes, &[9, 7, 8]), [0..0, 0..0]);
        assert_eq!(
            kept(bytes | 1 << 16, &[3, 7, 8, 9]),
            [0..0, 0..0],
            "a size is given"
        );
        assert_eq!(kept(bytes | IS_STRING, b"\x03abc"), [0..1, 0..0]);
        assert_eq!(kept(bytes | IS_STRING, b"3abc"), [0..0, 0..0]);
    }
}
