//! Enumeration is complete, cores do not exclude what is feasible, and samples are close to uniform.

use std::collections::{BTreeMap, BTreeSet};

use nearmiss_expr::{InputByte, Op, TermId, Terms};
use nearmiss_solve::Limits;
use nearmiss_solve::assignments::{Assigned, Assignments, Sampled};

/// Numbers that follow no pattern.
fn dice(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }
}

/// All comparisons `a <= b` of a few bytes below `limit`.
fn orders(count: u32, limit: u128) -> (Terms, Vec<TermId>, Vec<TermId>, Vec<InputByte>) {
    let mut terms = Terms::new();
    let bytes: Vec<InputByte> = (0..count)
        .map(|offset| InputByte { channel: 0, offset })
        .collect();
    let inputs: Vec<TermId> = bytes.iter().map(|byte| terms.input(*byte)).collect();
    let limit = terms.constant(8, limit);
    let below = |terms: &mut Terms, id: &TermId| terms.binary(Op::Ult, *id, limit);
    let consistent = inputs.iter().map(|id| below(&mut terms, id)).collect();
    let mut predicates = Vec::new();
    for left in &inputs {
        for right in inputs.iter().filter(|right| *right != left) {
            predicates.push(terms.binary(Op::Ule, *left, *right));
        }
    }
    (terms, consistent, predicates, bytes)
}

/// The assignments that some input has, by trying all inputs.
fn expected(count: u32, limit: u8) -> BTreeSet<Vec<bool>> {
    let mut found = BTreeSet::new();
    let total = u32::from(limit).pow(count);
    for number in 0..total {
        let digit = |place: u32| number / u32::from(limit).pow(place) % u32::from(limit);
        let mut row = Vec::new();
        for left in 0..count {
            for right in (0..count).filter(|right| *right != left) {
                row.push(digit(left) <= digit(right));
            }
        }
        found.insert(row);
    }
    found
}

fn enumerate(count: u32, limit: u8) -> (BTreeSet<Vec<bool>>, Assignments) {
    let (terms, consistent, predicates, bytes) = orders(count, limit.into());
    let limits = Limits::default();
    let mut all = Assignments::new(&terms, &consistent, &predicates, bytes, limits).unwrap();
    let mut dice = dice(7);
    let mut found = BTreeSet::new();
    loop {
        match all.step(&mut dice) {
            Assigned::Feasible(row, model) => {
                let value = |offset| model.get(InputByte { channel: 0, offset }).unwrap();
                assert!((0..count).all(|offset| value(offset) < limit));
                assert!(found.insert(row), "twice");
            }
            Assigned::Exhausted => return (found, all),
            Assigned::Unknown => panic!("this is small"),
        }
    }
}

#[test]
fn all_feasible_assignments_and_no_others() {
    for (count, limit) in [(2, 2), (3, 3), (4, 4), (4, 2)] {
        assert_eq!(enumerate(count, limit).0, expected(count, limit));
    }
}

#[test]
fn cores_save_most_proposals() {
    let (found, all) = enumerate(4, 4);
    assert_eq!(found.len(), 75, "weak orders of four");
    assert!(all.figures.proposed < 300, "{:?}", all.figures);
}

/// Pearson's statistic of 75 classes: 95.1 is exceeded by chance once in twenty, 118 once in a thousand.
#[test]
fn samples_are_close_to_uniform() {
    let (terms, consistent, predicates, bytes) = orders(4, 40);
    let limits = Limits::default();
    let mut all = Assignments::new(&terms, &consistent, &predicates, bytes, limits).unwrap();
    let mut dice = dice(3);
    let mut counts: BTreeMap<Vec<bool>, f64> = BTreeMap::new();
    let mut total = 0.0;
    while total < 3000.0 {
        if let Sampled::Cell(cell) = all.sample(3, &mut dice) {
            for (row, _) in cell {
                *counts.entry(row).or_default() += 1.0;
                total += 1.0;
            }
        }
    }
    assert_eq!(counts.len(), 75);
    let mean = total / 75.0;
    let statistic: f64 = counts.values().map(|n| (n - mean).powi(2) / mean).sum();
    assert!(statistic < 118.0, "{statistic}");
}
