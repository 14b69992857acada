//! A random part of a suite, and what is likely missed by not looking at the rest.
//!
//! Drawing tests is drawing from an urn without putting back: of `N` tests `m` lead to a defect,
//! `k` are drawn, and none of the `m` is among them with probability `C(N-m, k) / C(N, k)`.

use std::hash::Hasher;

use nearmiss_results::{Missed, Sample};
use siphasher::sip::SipHasher13;

/// Shares of a suite that lead to a defect, in percent, for which the estimate is told.
const SHARES: [f64; 5] = [1.0, 3.0, 6.0, 10.0, 30.0];

/// Which of these tests, named by their digests, are chosen; and what that means.
///
/// Each test gets a number from the seed and its digest, and the smallest numbers win: so the
/// choice does not depend on the order in which a parallel suite happened to run, and one more
/// test changes little of it.
pub fn choose(digests: &[String], percent: f64, seed: u64) -> (Vec<bool>, Sample) {
    let all = digests.len();
    let wanted = (all as f64 * percent / 100.0).ceil() as usize;
    let wanted = wanted.min(all);
    let mut order: Vec<usize> = (0..all).collect();
    order.sort_by_key(|index| (rank(seed, &digests[*index]), *index));
    let mut chosen = vec![false; all];
    for index in &order[..wanted] {
        chosen[*index] = true;
    }
    let missed = SHARES.map(|share| Missed {
        share,
        probability: missing(all, tests_of_share(all, share), wanted),
    });
    let sample = Sample {
        percent,
        seed,
        chosen: wanted as u64,
        of: all as u64,
        missed: missed.to_vec(),
    };
    (chosen, sample)
}

fn rank(seed: u64, digest: &str) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write_u64(seed);
    hasher.write(digest.as_bytes());
    hasher.finish()
}

/// How many tests a share is: a defect that nothing leads to is none.
fn tests_of_share(all: usize, share: f64) -> usize {
    ((all as f64 * share / 100.0).round() as usize).max(1)
}

/// The probability that none of `m` tests is among `k` out of `all`.
fn missing(all: usize, m: usize, k: usize) -> f64 {
    // C(N-m, k) / C(N, k), factor by factor: the i-th draw misses if it is none of the m.
    (0..k)
        .map(|drawn| {
            let left = all - drawn;
            left.saturating_sub(m) as f64 / left as f64
        })
        .product()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fewest of 100 tests that find a defect with 90 % if `m` of them lead to it.
    fn enough(m: usize) -> usize {
        (0..=100).find(|k| missing(100, m, *k) <= 0.1).unwrap()
    }

    #[test]
    fn the_figures_of_zesti() {
        assert_eq!(enough(30), 7);
        assert_eq!(enough(10), 20);
        assert_eq!(enough(6), 32);
    }

    #[test]
    fn the_ends_of_the_urn() {
        assert_eq!(missing(100, 6, 0), 1.0);
        assert_eq!(missing(100, 6, 95), 0.0);
        assert_eq!(missing(1, 1, 1), 0.0);
        assert!((missing(4, 1, 1) - 0.75).abs() < 1e-12);
        // C(3, 2) / C(5, 2)
        assert!((missing(5, 2, 2) - 0.3).abs() < 1e-12);
    }

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|number| format!("{number:x}")).collect()
    }

    #[test]
    fn the_same_seed_chooses_the_same_tests() {
        let (first, sample) = choose(&names(200), 10.0, 7);
        assert_eq!(first, choose(&names(200), 10.0, 7).0);
        assert_ne!(first, choose(&names(200), 10.0, 8).0);
        assert_eq!(first.iter().filter(|chosen| **chosen).count(), 20);
        assert_eq!((sample.chosen, sample.of, sample.seed), (20, 200, 7));
        assert_eq!(sample.missed.len(), 5);
        assert_eq!(sample.missed[3].probability, missing(200, 20, 20));
    }

    #[test]
    fn the_choice_does_not_depend_on_the_order() {
        let mut digests = names(50);
        let (chosen, _) = choose(&digests, 20.0, 1);
        let pick = |digests: &[String], chosen: &[bool]| -> Vec<String> {
            let pairs = digests.iter().zip(chosen);
            let mut picked: Vec<String> = pairs
                .filter(|(_, chosen)| **chosen)
                .map(|(digest, _)| digest.clone())
                .collect();
            picked.sort();
            picked
        };
        let before = pick(&digests, &chosen);
        digests.reverse();
        let (chosen, _) = choose(&digests, 20.0, 1);
        assert_eq!(pick(&digests, &chosen), before);
    }

    #[test]
    fn small_suites_lose_nothing_to_rounding() {
        let (chosen, sample) = choose(&names(3), 1.0, 1);
        assert_eq!(chosen.iter().filter(|chosen| **chosen).count(), 1);
        assert!((sample.missed[0].probability - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(choose(&[], 50.0, 1).1.chosen, 0);
    }
}
