//! SHA-256, which Test-Comp wants of a program's file.

/// The digest as hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    let constants = constants();
    let mut state: [u32; 8] = std::array::from_fn(|index| root_fraction(prime(index), 2));
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((bytes.len() as u64 * 8).to_be_bytes());
    for chunk in padded.chunks_exact(64) {
        compress(&mut state, chunk, &constants);
    }
    state.iter().map(|word| format!("{word:08x}")).collect()
}

fn compress(state: &mut [u32; 8], chunk: &[u8], constants: &[u32; 64]) {
    let mut words = [0_u32; 64];
    for (word, bytes) in words.iter_mut().zip(chunk.chunks_exact(4)) {
        *word = bytes
            .iter()
            .fold(0, |sum, byte| sum << 8 | u32::from(*byte));
    }
    for at in 16..64 {
        let (early, late) = (words[at - 15], words[at - 2]);
        let early = early.rotate_right(7) ^ early.rotate_right(18) ^ (early >> 3);
        let late = late.rotate_right(17) ^ late.rotate_right(19) ^ (late >> 10);
        let sum = words[at - 16].wrapping_add(early);
        words[at] = sum.wrapping_add(words[at - 7]).wrapping_add(late);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (word, constant) in words.iter().zip(constants) {
        let mixed = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let chosen = (e & f) ^ (!e & g);
        let first = h.wrapping_add(mixed).wrapping_add(chosen);
        let first = first.wrapping_add(*constant).wrapping_add(*word);
        let mixed = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let second = mixed.wrapping_add((a & b) ^ (a & c) ^ (b & c));
        (h, g, f, e) = (g, f, e, d.wrapping_add(first));
        (d, c, b, a) = (c, b, a, first.wrapping_add(second));
    }
    for (word, new) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *word = word.wrapping_add(new);
    }
}

/// The fractions of the cube roots of the first 64 primes.
fn constants() -> [u32; 64] {
    std::array::from_fn(|index| root_fraction(prime(index), 3))
}

fn prime(index: usize) -> u128 {
    let is_prime = |number: &u128| (2..*number).all(|factor| !number.is_multiple_of(factor));
    (2..).filter(is_prime).nth(index).unwrap_or(2)
}

/// The first 32 bits behind the point of a root: the last 32 of the root of the number times 2^(32·degree).
fn root_fraction(number: u128, degree: u32) -> u32 {
    let scaled = number << (32 * degree);
    let (mut low, mut high) = (0_u128, 1 << 42);
    while low + 1 < high {
        let middle = (low + high) / 2;
        match middle.pow(degree) <= scaled {
            true => low = middle,
            false => high = middle,
        }
    }
    low as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_standard() {
        assert_eq!(
            sha256(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(
            sha256(b""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        assert_eq!(
            sha256(b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        );
    }
}
