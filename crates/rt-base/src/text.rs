//! Text of bounded length, without a heap and without panics.

use crate::system;

/// Up to `N - 1` bytes and a zero.
pub struct Text<const N: usize> {
    bytes: [u8; N],
    size: usize,
}

impl<const N: usize> Text<N> {
    /// No text.
    pub const EMPTY: Text<N> = Text {
        bytes: [0; N],
        size: 0,
    };

    /// Forgets what is there.
    pub fn clear(&mut self) {
        self.shorten(0);
    }

    /// Forgets what is there beyond `size` bytes.
    pub fn shorten(&mut self, size: usize) {
        self.size = self.size.min(size);
        self.end();
    }

    /// Appends; `false` if there is no room.
    pub fn push(&mut self, text: &[u8]) -> bool {
        if text.len() >= N - self.size {
            return false;
        }
        // SAFETY: there is room for it and for the zero.
        unsafe {
            system::copy_bytes(
                self.bytes.as_mut_ptr().add(self.size),
                text.as_ptr(),
                text.len(),
            );
        }
        self.size += text.len();
        self.end();
        true
    }

    /// Appends a number in decimal digits.
    pub fn push_number(&mut self, mut number: u32) -> bool {
        let mut digits = [0u8; 10];
        let mut count = 0;
        for digit in digits.iter_mut().rev() {
            *digit = b'0' + (number % 10) as u8;
            number /= 10;
            count += 1;
            if number == 0 {
                break;
            }
        }
        digits
            .get(digits.len() - count..)
            .is_some_and(|digits| self.push(digits))
    }

    /// Replaces it by what `write` puts into the buffer; `write` says how much that is.
    pub fn write<E>(&mut self, write: impl FnOnce(&mut [u8]) -> Result<usize, E>) -> bool {
        let written = write(&mut self.bytes);
        self.size = written.as_ref().map_or(0, |&size| size.min(N - 1));
        self.end();
        written.is_ok_and(|size| size < N)
    }

    fn end(&mut self) {
        if let Some(place) = self.bytes.get_mut(self.size) {
            *place = 0;
        }
    }

    /// The text without its zero.
    pub fn text(&self) -> &[u8] {
        self.bytes.get(..self.size).unwrap_or(&[])
    }

    /// The text with its zero.
    pub fn as_ptr(&self) -> *const u8 {
        self.bytes.as_ptr()
    }
}

/// A number in decimal digits.
pub fn parse_number(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0u64, |number, &byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_grows_as_long_as_there_is_room() {
        let mut text = Text::<16>::EMPTY;
        assert!(text.push(b"a/") && text.push_number(0) && text.push_number(4294967295));
        assert_eq!(text.text(), b"a/04294967295");
        assert!(!text.push(b"xyz"));
        assert!(text.push(b"xy"));
        assert_eq!(text.text().len(), 15);
        text.shorten(3);
        // SAFETY: a text ends with a zero.
        assert_eq!(unsafe { system::text(text.as_ptr()) }, b"a/0");
        assert!(!text.write(|_| Ok::<_, ()>(16)));
        text.clear();
        assert_eq!(text.text(), b"");
    }
}
