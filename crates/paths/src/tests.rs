//! The exploration alone, on harnesses written by hand: every treatment of the precondition finds
//! the same paths.

use crate::arrivals::Finished;
use crate::testing::{Treated, explore};

const TREATMENTS: [Treated; 5] = [
    Treated::Early,
    Treated::Late,
    Treated::Lazily,
    Treated::Learnt,
    Treated::Auto,
];

#[test]
fn every_path_once() {
    // Which of three numbers is the largest, and whether the others are ordered.
    let source = "
        static int p(unsigned char *x) { return 1; }
        static int f(unsigned char *x)
        {
            if (x[0] > x[1]) { if (x[0] > x[2]) return 1; return 2; }
            if (x[1] > x[2]) { if (x[0] == 7) return 3; return 4; }
            if (x[0] > x[2]) return 5; /* cannot be */
            return 6;
        }";
    for treated in TREATMENTS {
        let explored = explore(source, 3, treated);
        assert_eq!(explored.results, [1, 2, 3, 4, 6], "{treated:?}");
        assert_eq!(explored.finished, Finished::Exhausted);
        assert_eq!(explored.tree.infeasible_count, 1, "{treated:?}");
        assert_eq!(explored.tree.repeated, 0, "{treated:?}");
    }
}

#[test]
fn a_precondition_with_many_ways_to_accept() {
    // Sorted, or all equal to one of a few values: several paths accept one input.
    let source = "
        static int p(unsigned char *x)
        {
            for (int i = 0; i + 1 < 4; i++)
                if (x[i] > x[i + 1]) return 0;
            for (int i = 0; i < 4; i++)
                if (x[i] == 3 || x[i] == 5) return 1;
            return 0;
        }
        static int f(unsigned char *x)
        {
            int code = 0;
            for (int i = 0; i < 3; i++)
                if (x[i] == x[i + 1]) code += 1 << i;
            if (x[3] < x[0]) return -1;
            if (x[0] > 5) return -2;
            return code;
        }";
    for treated in TREATMENTS {
        let explored = explore(source, 4, treated);
        assert_eq!(explored.results, [0, 1, 2, 3, 4, 5, 6, 7], "{treated:?}");
        assert_eq!(explored.finished, Finished::Exhausted);
        let (repeated, calls) = (explored.tree.repeated, explored.calls.calls);
        match treated {
            Treated::Early => assert!(repeated > 0 && calls == 0),
            Treated::Late => assert!(repeated == 0 && calls > explored.calls.paths),
            Treated::Auto => assert_eq!(repeated, 0),
            // A path of the precondition is gone through once.
            _ => assert!(repeated == 0 && calls == explored.calls.paths, "{calls}"),
        }
        assert_eq!(explored.tree.diverged, 0, "{treated:?}");
    }
}

#[test]
fn a_precondition_that_accepts_nothing() {
    let source = "
        static int p(unsigned char *x) { return x[0] < x[1] && x[1] < x[0]; }
        static int f(unsigned char *x) { return x[0]; }";
    for treated in TREATMENTS {
        let explored = explore(source, 2, treated);
        assert_eq!(explored.finished, Finished::Empty, "{treated:?}");
        assert!(explored.results.is_empty());
    }
}

#[test]
fn a_precondition_that_always_has_another_way() {
    // Hundreds of paths of the precondition, and hardly one decides two partial paths: `auto` tries both
    // treatments in turn, and finds what the late one finds.
    let source = "
        static int p(unsigned char *x)
        {
            int odd = 0;
            for (int i = 0; i < 8; i++)
                if (x[i] & 1) odd++;
            return odd == 4;
        }
        static int f(unsigned char *x)
        {
            int code = 0;
            for (int i = 0; i < 8; i++)
                if (x[i] & 1) code += 1 << i;
            return code;
        }";
    let by_late = explore(source, 8, Treated::Late);
    let by_auto = explore(source, 8, Treated::Auto);
    assert_eq!(by_late.results.len(), 70, "8 over 4");
    assert_eq!(by_auto.results, by_late.results);
    assert_eq!(by_auto.finished, Finished::Exhausted);
    assert_eq!((by_auto.tree.repeated, by_auto.tree.unknown), (0, 0));
}
