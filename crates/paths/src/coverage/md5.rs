//! MD5, by which LLVM names functions in profiles.

/// The first eight bytes of the digest, as LLVM reads them.
pub fn name(text: &str) -> u64 {
    let digest = digest(text.as_bytes());
    u64::from(digest[0]) | u64::from(digest[1]) << 32
}

/// How far each step of a round rotates.
const ROTATIONS: [[u32; 4]; 4] = [
    [7, 12, 17, 22],
    [5, 9, 14, 20],
    [4, 11, 16, 23],
    [6, 10, 15, 21],
];

fn digest(bytes: &[u8]) -> [u32; 4] {
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(64), 0);
    if padded.len() - bytes.len() < 9 {
        padded.resize(padded.len() + 64, 0);
    }
    let at = padded.len() - 8;
    padded[at..].copy_from_slice(&(bytes.len() as u64 * 8).to_le_bytes());
    let mut state = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    for block in padded.chunks_exact(64) {
        mix(&mut state, block);
    }
    state
}

fn mix(state: &mut [u32; 4], block: &[u8]) {
    let words: Vec<u32> = (block.chunks_exact(4))
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect();
    let [mut a, mut b, mut c, mut d] = *state;
    for step in 0..64 {
        let (mixed, word) = match step / 16 {
            0 => (b & c | !b & d, step),
            1 => (d & b | !d & c, 5 * step + 1),
            2 => (b ^ c ^ d, 3 * step + 5),
            _ => (c ^ (b | !d), 7 * step),
        };
        let constant = (((step + 1) as f64).sin().abs() * 4_294_967_296.0) as u32;
        let sum = (a.wrapping_add(mixed))
            .wrapping_add(constant)
            .wrapping_add(words[word % 16]);
        (a, d, c) = (d, c, b);
        b = b.wrapping_add(sum.rotate_left(ROTATIONS[step / 16][step % 4]));
    }
    for (word, mixed) in state.iter_mut().zip([a, b, c, d]) {
        *word = word.wrapping_add(mixed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_standard() {
        let bytes = |text: &str| -> String {
            digest(text.as_bytes())
                .iter()
                .flat_map(|word| word.to_le_bytes())
                .map(|byte| format!("{byte:02x}"))
                .collect()
        };
        assert_eq!(bytes(""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(bytes("abc"), "900150983cd24fb0d6963f7d28e17f72");
        assert_eq!(
            bytes(
                "12345678901234567890123456789012345678901234567890123456789012345678901234567890"
            ),
            "57edf4a22be3c955ac49da2e2107b67a"
        );
        assert_eq!(name("main"), 0xdb95_6436_e78d_d5fa);
    }
}
