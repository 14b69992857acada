//! Every operation, at many widths: the evaluator, our bit-blaster and Bitwuzla agree.

mod common;

use common::{Random, apply, conjunction, limits, operations, word};
use nearmiss_expr::{InputByte, Op, TermId, Terms};
use nearmiss_solve::{Answer, Backend, Session, Stack};

const WIDTHS: [u32; 10] = [1, 7, 8, 16, 31, 32, 33, 64, 65, 128];
const BACKENDS: [Backend; 2] = [Backend::BitBlaster, Backend::Bitwuzla];

fn is(terms: &mut Terms, term: TermId, value: u128) -> TermId {
    let constant = terms.constant(terms.width(term), value);
    terms.eq(term, constant)
}

/// With the operands' values as assumptions the result has the expected value and no other.
fn expect(
    session: &mut Session<'_>,
    terms: &mut Terms,
    operands: &[(TermId, u128)],
    result: TermId,
    expected: u128,
    what: &str,
) {
    let mut known: Vec<TermId> = operands
        .iter()
        .map(|&(term, value)| is(terms, term, value))
        .collect();
    let equal = is(terms, result, expected);
    let different = terms.not(equal);
    known.push(equal);
    let goal = conjunction(terms, &known);
    let answer = session.query(terms, goal, &limits(60)).answer;
    assert!(matches!(answer, Answer::Sat(_)), "{what}: {answer:?}");
    *known.last_mut().expect("it has one") = different;
    let goal = conjunction(terms, &known);
    let answer = session.query(terms, goal, &limits(60)).answer;
    assert_eq!(answer, Answer::Unsat, "{what}");
}

#[test]
fn results_are_those_of_the_evaluator() {
    let recorded = |_: InputByte| 0;
    for backend in BACKENDS {
        let mut random = Random::new(1);
        for width in WIDTHS {
            let mut terms = Terms::new();
            let mut session = Stack::bare(backend.clone()).session(&recorded);
            let (a, b) = (word(&mut terms, 0, width), word(&mut terms, 16, width));
            for op in operations() {
                let result = apply(&mut terms, op, a, b);
                for _ in 0..3 {
                    let (x, mut y) = (random.value(width), random.value(width));
                    if matches!(op, Op::Shl | Op::LShr | Op::AShr) && random.below(2) == 0 {
                        y = random.value(8) & (u128::MAX >> (128 - width));
                    }
                    let expected = nearmiss_abi::op::evaluate(op, width, x, y).expect("defined");
                    let what = format!("{backend:?}: {} {width} {x:#x} {y:#x}", op.name());
                    let operands = [(a, x), (b, y)];
                    expect(&mut session, &mut terms, &operands, result, expected, &what);
                }
            }
        }
    }
}

#[test]
fn constant_operands_give_the_same_circuits() {
    let recorded = |_: InputByte| 0;
    let mut random = Random::new(2);
    for width in WIDTHS {
        let mut terms = Terms::new();
        let mut session = Stack::bare(Backend::BitBlaster).session(&recorded);
        let a = word(&mut terms, 0, width);
        for op in operations().filter(|op| op.arity() == 2) {
            for swapped in [false, true] {
                let (x, y) = (random.value(width), random.value(width));
                let constant = terms.constant(width, y);
                let (result, expected) = if swapped {
                    let result = terms.binary(op, constant, a);
                    (result, nearmiss_abi::op::evaluate(op, width, y, x))
                } else {
                    let result = terms.binary(op, a, constant);
                    (result, nearmiss_abi::op::evaluate(op, width, x, y))
                };
                let expected = expected.expect("defined");
                let what = format!("{} {width} {x:#x} {y:#x} {swapped}", op.name());
                expect(&mut session, &mut terms, &[(a, x)], result, expected, &what);
            }
        }
    }
}

/// Both solvers find operands for a result that there is, and agree about a result that there
/// may not be. Wide products are left out as factoring is hard.
#[test]
fn operands_are_found() {
    let recorded = |_: InputByte| 0;
    let mut random = Random::new(3);
    for width in WIDTHS {
        let mut terms = Terms::new();
        let (a, b) = (word(&mut terms, 0, width), word(&mut terms, 16, width));
        for op in operations() {
            let hard = matches!(op, Op::Mul | Op::UDiv | Op::URem | Op::SDiv | Op::SRem);
            let result = apply(&mut terms, op, a, b);
            let (x, y) = (random.value(width), random.value(width));
            let reachable = nearmiss_abi::op::evaluate(op, width, x, y).expect("defined");
            let mut known = vec![is(&mut terms, result, reachable)];
            if hard && width > 8 {
                known.push(is(&mut terms, b, y));
            }
            let goal = conjunction(&mut terms, &known);
            let mut session = Stack::bare(Backend::Differential).session(&recorded);
            let answer = session.query(&mut terms, goal, &limits(60)).answer;
            let what = format!("{} {width}", op.name());
            assert!(matches!(answer, Answer::Sat(_)), "{what}: {answer:?}");
            if !hard || width <= 8 {
                let wanted = random.value(terms.width(result));
                let goal = is(&mut terms, result, wanted);
                let answer = session.query(&mut terms, goal, &limits(60)).answer;
                assert!(!matches!(answer, Answer::Unknown(_)), "{what}: {answer:?}");
            }
        }
    }
}

#[test]
fn structure_agrees() {
    let recorded = |_: InputByte| 0;
    for backend in BACKENDS {
        let mut random = Random::new(4);
        let mut terms = Terms::new();
        let mut session = Stack::bare(backend.clone()).session(&recorded);
        let a = word(&mut terms, 0, 32);
        let b = word(&mut terms, 4, 17);
        let flag = word(&mut terms, 8, 1);
        let (wide, low) = (terms.concat(b, a), terms.extract(a, 5, 17));
        let (zero, sign) = (terms.zext(b, 99), terms.sext(b, 99));
        let choice = terms.ite(flag, b, low);
        for _ in 0..10 {
            let (x, y, f) = (random.value(32), random.value(17), random.value(1));
            let signed = nearmiss_abi::op::signed(y, 17) as u128;
            let middle = x >> 5 & 0x1_ffff;
            let cases = [
                (wide, y << 32 | x),
                (low, middle),
                (zero, y),
                (sign, signed & (u128::MAX >> 29)),
                (choice, if f == 1 { y } else { middle }),
            ];
            let operands = [(a, x), (b, y), (flag, f)];
            for (number, (term, expected)) in cases.into_iter().enumerate() {
                let what = format!("{backend:?}: case {number}");
                expect(&mut session, &mut terms, &operands, term, expected, &what);
            }
        }
    }
}

#[test]
fn reads_agree() {
    let recorded = |_: InputByte| 0;
    for backend in BACKENDS {
        let mut random = Random::new(5);
        let mut terms = Terms::new();
        let mut session = Stack::bare(backend.clone()).session(&recorded);
        for length in [0usize, 1, 2, 5, 64, 100, 256, 1000] {
            let bytes: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
            let snapshot = terms.snapshot(bytes.clone());
            let input = word(&mut terms, 0, 16);
            let (wide, four) = (terms.zext(input, 64), terms.constant(64, 4));
            let scaled = terms.binary(Op::Mul, wide, four);
            let below_zero = terms.binary(Op::Sub, wide, four);
            for (index, scale, offset) in [(wide, 1, 0), (scaled, 4, 0), (below_zero, 1, 4)] {
                for width in [8, 32, 128] {
                    let read = terms.read(index, snapshot, width);
                    let x = random.below(length + 10) as u64;
                    let start = (x * scale).wrapping_sub(offset);
                    let expected = (0..u64::from(width) / 8).fold(0, |value, k| {
                        let at = start.checked_add(k).and_then(|at| usize::try_from(at).ok());
                        let byte = at.and_then(|at| bytes.get(at)).copied().unwrap_or(0);
                        value | u128::from(byte) << (8 * k)
                    });
                    let what = format!("{backend:?}: {length} {x} {scale} {width}");
                    let operands = [(input, x.into())];
                    expect(&mut session, &mut terms, &operands, read, expected, &what);
                }
            }
        }
    }
}
