//! MD5, by which LLVM names functions in profiles.

use md5::{Digest, Md5};

/// The first eight bytes of the digest, as LLVM reads them.
pub fn name(text: &str) -> u64 {
    let digest = Md5::digest(text.as_bytes());
    let (start, _) = digest.split_first_chunk().expect("sixteen bytes");
    u64::from_le_bytes(*start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_llvm() {
        // echo -n main | md5sum: fad58de7366495db…
        assert_eq!(name("main"), 0xdb95_6436_e78d_d5fa);
    }
}
