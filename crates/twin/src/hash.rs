//! Names for what was built, by what it was built from.

use std::hash::Hasher;

use siphasher::sip::SipHasher13;

/// A short name for these bytes. Two lists of parts have the same name only if they are equal,
/// for all that matters.
pub fn name(parts: &[&[u8]]) -> String {
    // Two hashes of 64 bits with different beginnings: 64 alone are few for a cache that
    // must not be wrong.
    let half = |seed: u64| {
        let mut hasher = SipHasher13::new();
        hasher.write_u64(seed);
        for part in parts {
            hasher.write_usize(part.len());
            hasher.write(part);
        }
        hasher.finish()
    };
    format!("{:016x}{:016x}", half(0), half(1))
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn parts_are_kept_apart() {
        assert_ne!(name(&[b"ab", b"c"]), name(&[b"a", b"bc"]));
        assert_eq!(name(&[b"ab"]), name(&[b"ab"]));
    }
}
