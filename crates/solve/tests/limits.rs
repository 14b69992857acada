//! Time limits are kept.

mod common;

use std::time::{Duration, Instant};

use common::{byte, word};
use nearmiss_expr::{InputByte, Op, TermId, Terms};
use nearmiss_solve::{Answer, Backend, Limits, Reason, Stack};

/// Two factors of a product of two primes, none of them one: hard.
fn factoring(terms: &mut Terms) -> TermId {
    let (a, b) = (word(terms, 0, 64), word(terms, 8, 64));
    let (a, b) = (terms.zext(a, 128), terms.zext(b, 128));
    let product = terms.binary(Op::Mul, a, b);
    let semiprime = terms.constant(128, 8_873_059_910_062_537_879 * 7_278_109_122_492_486_643);
    let (one, equal) = (terms.constant(128, 1), terms.eq(product, semiprime));
    let a_is_more = terms.binary(Op::Ult, one, a);
    let b_is_more = terms.binary(Op::Ult, a, b);
    let more = terms.and(a_is_more, b_is_more);
    terms.and(equal, more)
}

#[test]
fn a_hard_query_ends_in_time() {
    let recorded = |_: InputByte| 0;
    for backend in [Backend::BitBlaster, Backend::Bitwuzla, Backend::Escalate] {
        let mut terms = Terms::new();
        let goal = factoring(&mut terms);
        let mut session = Stack::new(backend.clone()).session(&recorded);
        for _ in 0..2 {
            let start = Instant::now();
            let limits = Limits::time(Duration::from_millis(50));
            let answer = session.query(&mut terms, goal, &limits).answer;
            let time = start.elapsed();
            assert_eq!(answer, Answer::Unknown(Reason::Timeout), "{backend:?}");
            assert!(time < Duration::from_secs(60), "{backend:?}: {time:?}");
        }
        assert_eq!(session.statistics().timeouts, 2);
        // And the session is still good for an easy one.
        let (input, nine) = (terms.input(byte(3)), terms.constant(8, 9));
        let easy = terms.eq(input, nine);
        let answer = session.query(&mut terms, easy, &Limits::default()).answer;
        assert!(matches!(answer, Answer::Sat(_)), "{backend:?}: {answer:?}");
    }
}
