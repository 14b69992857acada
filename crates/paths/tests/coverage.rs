//! What tests cover of real C files, and that clang's own tools agree.

mod support;

use std::time::{Duration, Instant};

use nearmiss_paths::Cover;
use nearmiss_paths::coverage::{Gain, Goal, Meter};
use nearmiss_sandbox::Sandbox;
use support::{Place, rows};

const DECISIONS: &str = r#"#include <nearmiss.h>
#include <stdlib.h>
#include <unistd.h>
#define LARGE(x) ((x) > 100)

static int f(int a, int b, int c)
{
    int n = 0;
    while (1) {
        if (n++ > 1)
            break;
    }
    if (a && (b || c))
        n += 2;
    if (LARGE(a))
        abort();
    if (b == 77)
        _exit(3);
    if (c == 78)
        for (;;)
            continue;
    return n;
}

int main(void)
{
    int v[3] = {0};
    nearmiss_symbolic(v, sizeof v, "v");
    return f(v[0], v[1], v[2]) == 99;
}
"#;

fn meter(place: &Place) -> Meter {
    let programs = place.build(&["d.c"], &[], None).unwrap();
    Meter::start(&Sandbox::none(), &programs, Duration::from_millis(300)).unwrap()
}

fn run(meter: &mut Meter, values: [i32; 3]) -> Gain {
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    meter.run(&rows("v", &bytes)).unwrap()
}

fn lines(goals: &[Goal]) -> Vec<(u32, &str)> {
    goals
        .iter()
        .map(|goal| (goal.line, goal.what.as_str()))
        .collect()
}

#[test]
fn every_outcome_counts_whatever_becomes_of_the_run() {
    let place = Place::with(&[("d.c", DECISIONS)]);
    let mut meter = meter(&place);
    let first = run(&mut meter, [1, 0, 0]);
    assert_eq!(
        first,
        Gain {
            branches: 8,
            combinations: 1
        }
    );
    assert_eq!(run(&mut meter, [1, 0, 0]), Gain::default());
    // The same counters as before, but a difference of counters that was 0.
    assert_eq!(
        run(&mut meter, [0, 0, 0]),
        Gain {
            branches: 1,
            combinations: 1
        }
    );
    let open = meter.open(Cover::Branches);
    let expected = [
        (13, "true"),
        (13, "true"),
        (15, "true"),
        (17, "true"),
        (19, "true"),
    ];
    assert_eq!(lines(&open), expected);
    assert!(open.iter().all(|goal| goal.file.ends_with("d.c")));
    // By abort, by _exit, and killed when its time was over.
    assert_eq!(run(&mut meter, [101, 0, 1]).branches, 2);
    assert_eq!(run(&mut meter, [1, 77, 0]).branches, 2);
    assert!(!meter.is_full(Cover::Branches));
    assert_eq!(run(&mut meter, [0, 0, 78]).branches, 1);
    assert!(meter.is_full(Cover::Branches) && meter.is_full(Cover::Mcdc));
    assert!(meter.open(Cover::Mcdc).is_empty());
}

#[test]
fn clangs_tools_count_the_same() {
    let place = Place::with(&[("d.c", DECISIONS)]);
    let mut meter = meter(&place);
    for values in [[1, 0, 0], [0, 0, 0], [1, 1, 0]] {
        run(&mut meter, values);
        let (coverage, lcov) = meter.report().unwrap();
        let branches = coverage.branches;
        let open = meter.open(Cover::Branches).len() as u64;
        assert_eq!(branches.total - branches.covered, open);
        assert_eq!(branches.total, 14);
        let mcdc = coverage.mcdc;
        assert_eq!(mcdc.total, 3);
        let all = meter.open(Cover::Mcdc).len() as u64;
        assert_eq!(mcdc.total - mcdc.covered, all - open);
        assert!(lcov.contains("d.c\n") && lcov.contains(",f\n"), "{lcov}");
        assert!(!lcov.contains("nearmiss.h"));
    }
    let (coverage, _) = meter.report().unwrap();
    assert_eq!(
        (coverage.mcdc.covered, meter.is_full(Cover::Mcdc)),
        (2, false)
    );
    assert_eq!((coverage.lines.covered, coverage.lines.total), (18, 22));
}

#[test]
fn a_run_is_fast() {
    let place = Place::with(&[("d.c", DECISIONS)]);
    let mut meter = meter(&place);
    let start = Instant::now();
    for value in 0..1000 {
        run(&mut meter, [value % 100, value, 5]);
    }
    let each = start.elapsed() / 1000;
    println!("{each:?} a run");
    // The machine may be busy: far more than it takes.
    assert!(each < Duration::from_millis(10), "{each:?}");
}
