//! Slices of small paths, and the names of queries.

use super::*;
use nearmiss_expr::Op;

fn input(terms: &mut Terms, offset: u32) -> TermId {
    terms.input(InputByte { channel: 0, offset })
}

fn offsets(slice: &Slice) -> Vec<u32> {
    slice.bytes.iter().map(|byte| byte.offset).collect()
}

#[test]
fn a_slice_follows_shared_bytes() {
    let mut terms = Terms::new();
    let recorded = |_: InputByte| 0;
    let mut slices = Slices::new(&recorded);
    let inputs: Vec<TermId> = (0..6).map(|offset| input(&mut terms, offset)).collect();
    let mut below = |a: usize, b: usize| terms.binary(Op::Ult, inputs[a], inputs[b]);
    let (first, second, third) = (below(0, 1), below(2, 3), below(1, 2));
    let (goal, lonely) = (below(0, 4), below(5, 4));
    slices.add(&terms, first);
    slices.add(&terms, second);
    let slice = slices.slice(&terms, goal);
    assert_eq!(slice.constraints, [first]);
    assert_eq!(offsets(&slice), [0, 1, 4]);
    slices.add(&terms, third);
    let slice = slices.slice(&terms, goal);
    assert_eq!(slice.constraints, [first, second, third]);
    assert_eq!(offsets(&slice), [0, 1, 2, 3, 4]);
    assert_eq!(slices.slice(&terms, lonely).constraints, []);
    let byte = |offset| InputByte { channel: 0, offset };
    let related = slices.related(&terms, goal, &[byte(3), byte(5), byte(4), byte(9)]);
    assert_eq!(related, [true, false, true, false]);
}

#[test]
fn a_key_says_what_is_asked_not_on_which_path() {
    let recorded = |byte: InputByte| byte.offset as u8;
    let other = |byte: InputByte| byte.offset as u8 + u8::from(byte.offset == 1);
    let mut terms = Terms::new();
    let inputs: Vec<TermId> = (0..6).map(|offset| input(&mut terms, offset)).collect();
    let mut below = |a: usize, b: usize| terms.binary(Op::Ult, inputs[a], inputs[b]);
    let (first, second, elsewhere) = (below(0, 1), below(1, 2), below(3, 4));
    let (goal, loud) = (below(0, 2), below(0, 5));
    let key = |recorded, constraints: &[TermId], goal, fixed: &[(InputByte, u8)]| {
        let mut slices = Slices::new(recorded);
        for &constraint in constraints {
            slices.add(&terms, constraint);
        }
        slices.key(&terms, goal, fixed, 0)
    };
    let asked = key(&recorded, &[first, second], goal, &[]);
    let same = key(&recorded, &[second, elsewhere, first, second], goal, &[]);
    assert_eq!(asked, same);
    let differs = |other: Key| assert_ne!(asked.query, other.query);
    differs(key(&recorded, &[first], goal, &[]));
    differs(key(&recorded, &[first, second], loud, &[]));
    let byte = InputByte {
        channel: 0,
        offset: 1,
    };
    differs(key(&recorded, &[first, second], goal, &[(byte, 0)]));
    let recorded_otherwise = key(&other, &[first, second], goal, &[]);
    assert_eq!(asked.query, recorded_otherwise.query);
    assert_ne!(asked.recorded, recorded_otherwise.recorded);
}
