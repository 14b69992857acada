//! Short names for what may be large: equal names mean equal things, for all that matters.

use std::hash::Hasher;

use siphasher::sip::SipHasher13;

/// A name in the making.
#[derive(Clone, Debug)]
pub struct Digest([SipHasher13; 2]);

impl Digest {
    /// Of nothing yet.
    pub fn new() -> Digest {
        // Two hashes of 64 bits: 64 alone are few where a mistake would lose a test.
        let mut halves = [SipHasher13::new(), SipHasher13::new()];
        halves[1].write_u8(1);
        Digest(halves)
    }

    /// Adds bytes, kept apart from those before and after.
    pub fn add(&mut self, bytes: &[u8]) {
        for half in &mut self.0 {
            half.write_usize(bytes.len());
            half.write(bytes);
        }
    }

    /// Adds a number.
    pub fn number(&mut self, number: u64) {
        for half in &mut self.0 {
            half.write_u64(number);
        }
    }

    /// The name.
    pub fn name(&self) -> String {
        let [left, right] = &self.0;
        format!("{:016x}{:016x}", left.finish(), right.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_kept_apart() {
        let name = |parts: &[&str]| {
            let mut digest = Digest::new();
            for part in parts {
                digest.add(part.as_bytes());
            }
            digest.name()
        };
        assert_ne!(name(&["ab", "c"]), name(&["a", "bc"]));
        assert_eq!(name(&["ab"]), name(&["ab"]));
        let (left, right) = (name(&[]), name(&[""]));
        assert_ne!(left, right);
        assert_ne!(left[..16], left[16..]);
    }
}
