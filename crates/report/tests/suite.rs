//! Golden texts of a whole suite in figures.

use std::path::Path;

use nearmiss_report::statistics::{Figures, tab_separated_values};
use nearmiss_report::text::{self, Lookup};
use nearmiss_results::{
    Checks, DistanceFigures, EndReason, Exploration, Missed, ProgramFigures, Report, Sample,
    Skipped, Suite, Summary, TestFigures, UnitTests,
};

struct Nothing;

impl Lookup for Nothing {
    fn source_line(&self, _: &str, _: u32) -> Option<String> {
        None
    }

    fn content(&self, _: &Path) -> Option<Vec<u8>> {
        None
    }
}

fn suite() -> Suite {
    Suite {
        command: vec!["make".into(), "check".into(), "V=a b".into()],
        ended: "exit 0".into(),
        seconds: 72.4,
        executions: 4210,
        tests: 812,
        same_path: 34,
        sample: None,
        unit_tests: vec![UnitTests {
            test: "T3".into(),
            test_files: vec!["tests/a.c".into()],
            files: vec!["b.c".into()],
            functions: 4,
            calls: 7,
            left_out: 2,
            ..UnitTests::default()
        }],
        skipped: vec![
            Skipped {
                reason: "it was still running when the suite ended".into(),
                count: 1,
                example: "sleepy \x1b[2J".into(),
            },
            Skipped {
                reason: "more than --tests".into(),
                count: 12,
                example: String::new(),
            },
        ],
    }
}

fn distance(distance: u32, unfinished: u64) -> DistanceFigures {
    DistanceFigures {
        distance,
        finished: 778 - unfinished,
        unfinished,
        runs: 1000,
        paths: u64::from(distance) * 465,
        checks: 93_211,
        findings: 2,
        seconds: 72.0,
        cpu_seconds: 61.0,
    }
}

fn exploration() -> Exploration {
    Exploration {
        finished: Some(1),
        runs: 3000,
        paths: 930,
        outcomes: 57,
        known: 1201,
        divergences: 13,
        unended: 0,
        feasible: 8121,
        infeasible: 2210,
        unknown: 17,
        distances: vec![distance(0, 0), distance(1, 0), distance(2, 70)],
        deeper: Some(distance(3, 0)),
        growth: None,
        ended: EndReason::Time,
    }
}

fn program(program: &str, checks: u64) -> ProgramFigures {
    ProgramFigures {
        inputs: Vec::new(),
        program: program.into(),
        executions: 812,
        tests: 163,
        checks,
        unique_checks: 142,
        paths: 87,
        findings: 1,
        suite_seconds: 1.25,
        recorded_seconds: 3.5,
        analysis_seconds: 12.0,
    }
}

fn test(id: &str, suite_seconds: f64, analysis_seconds: f64) -> TestFigures {
    TestFigures {
        id: id.into(),
        argv: vec!["cut".into(), "-d\t".into(), "-f1".into()],
        executions: 3,
        checks: 120,
        unique_checks: 30,
        suite_seconds,
        recorded_seconds: 0.025,
        analysis_seconds,
    }
}

fn summary() -> Summary {
    Summary {
        complete: true,
        checks: Checks {
            met: 100,
            by_solver: 100,
            ..Checks::default()
        },
        suite: Some(suite()),
        exploration: Some(exploration()),
        programs: vec![program("/b/src/cut", 7), program("/b/src/sort", 93_211)],
        tests: vec![test("T1", 0.004, 0.5), test("T2", 0.002, 11.25)],
        ..Summary::default()
    }
}

const SUMMARY: &str = r"No check can fail, for any input that takes one of these 326 paths.
Suite: `make check 'V=a b'` ended with exit 0 after 1m 12s.
  4210 executions of instrumented programs, 812 different; 34 of these took the path of another.
  Unit tests in 1 program: test code is tests/a.c (--tests GLOB says otherwise);
    under test: up to 4 functions of b.c; inputs: 7 calls of the tests (2 more from the same places are not).
  Left out, or not as in the suite:
    1 execution: it was still running when the suite ended, for example `sleepy \u{1b}[2J`
    12 executions: more than --tests
Exploration: done for every test up to distance 1; it ended because the time was over.
  3000 runs, 930 new paths, 57 outcomes of branches that no test has, 1201 ended on a path that was known, 13 left the predicted path.
  Branches: 8121 can go another way, 2210 cannot, 17 not known.
  distance  tests done  runs  new paths  checks  findings    time
         0  778 of 778  1000          0   93211         2  72.0 s
         1  778 of 778  1000        465   93211         2  72.0 s
         2  708 of 778  1000        930   93211         2  72.0 s
    deeper           -  1000       1395   93211         2  72.0 s
Programs, those with most checks first; places are lines of code:
  program  executions  paths  checks  places  new paths  findings  suite  recorded  analysis
  sort            812    163   93211     142         87         1  1.2 s     3.5 s    12.0 s
  cut             812    163       7     142         87         1  1.2 s     3.5 s    12.0 s
Tests that took longest:
  test    suite  recorded  analysis  checks  command
  T2    0.002 s   0.025 s  11.250 s     120  cut $'-d\t' -f1
  T1    0.004 s   0.025 s   0.500 s     120  cut $'-d\t' -f1
Checks on input data of the recorded paths: 100 met, 100 hold by the solver.
";

fn shown(summary: Summary) -> String {
    text::report(&Report::new(Vec::new(), summary), &Nothing)
}

#[test]
fn a_suite_in_figures() {
    assert_eq!(shown(summary()), SUMMARY);
}

#[test]
fn what_is_not_complete_is_not_called_so() {
    let text = shown(Summary {
        complete: false,
        stopped: true,
        ..summary()
    });
    assert!(text.starts_with("No failure found; the answer is not complete, see below.\n"));
    assert!(text.ends_with(
        "Not complete, because:\n  the analysis was stopped before all recorded paths were looked at\n"
    ));
}

#[test]
fn a_suite_without_instrumented_programs_proves_nothing() {
    let text = shown(Summary {
        programs: Vec::new(),
        exploration: None,
        ..summary()
    });
    assert!(text.starts_with("No path of an instrumented program was looked at.\n"));
}

#[test]
fn a_single_run_that_was_explored_is_told_in_few_lines() {
    let text = shown(Summary {
        suite: None,
        programs: Vec::new(),
        tests: Vec::new(),
        ..summary()
    });
    assert_eq!(
        text,
        "No check can fail, for any input that takes the same path.
Exploration: done up to distance 1; it ended because the time was over.
  3000 runs, 930 new paths, 57 outcomes of branches that no test has, 1201 ended on a path that was known, 13 left the predicted path.
  Branches: 8121 can go another way, 2210 cannot, 17 not known.
Checks on input data of the recorded path: 100 met, 100 hold by the solver.
"
    );
}

#[test]
fn a_sample_says_what_it_misses() {
    let missed = |share, probability| Missed { share, probability };
    let sample = Sample {
        percent: 10.0,
        seed: 42,
        chosen: 81,
        of: 812,
        missed: vec![missed(1.0, 0.4312), missed(10.0, 0.00001)],
    };
    let text = shown(Summary {
        suite: Some(Suite {
            sample: Some(sample),
            ..suite()
        }),
        ..summary()
    });
    let expected = "  Sample: 10 % of the tests, 81 of 812 (seed 42).
    A defect that 1 % of all tests lead to is missed with a probability of 43 %.
    A defect that 10 % of all tests lead to is missed with a probability of less than 0.1 %.
";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn long_tables_are_cut_and_say_how_to_see_all() {
    let name = |number: u64| program(&format!("/b/{number}/prog"), number);
    let one = |number: u64| test(&format!("T{number}"), 0.0, number as f64);
    let text = shown(Summary {
        programs: (0..25).map(name).collect(),
        tests: (0..12).map(one).collect(),
        ..summary()
    });
    assert!(text.contains("\n  /b/24/prog "), "{text}");
    assert!(text.contains("  … and 5 more: nearmiss report --statistics programs\n"));
    assert!(text.contains("  … and 2 more: nearmiss report --statistics tests\n"));
    assert!(!text.contains("/b/4/prog"));
}

#[test]
fn statistics_for_plots() {
    let summary = summary();
    assert_eq!(
        tab_separated_values(&summary, Figures::Programs),
        "program\texecutions\ttests\tchecks\tunique_checks\tpaths\tfindings\tsuite_seconds\
         \trecorded_seconds\tanalysis_seconds\n\
         /b/src/sort\t812\t163\t93211\t142\t87\t1\t1.250000\t3.500000\t12.000000\n\
         /b/src/cut\t812\t163\t7\t142\t87\t1\t1.250000\t3.500000\t12.000000\n"
    );
    assert_eq!(
        tab_separated_values(&summary, Figures::Tests),
        "test\texecutions\tchecks\tunique_checks\tsuite_seconds\trecorded_seconds\
         \tanalysis_seconds\tcommand\n\
         T2\t3\t120\t30\t0.002000\t0.025000\t11.250000\tcut $'-d\\t' -f1\n\
         T1\t3\t120\t30\t0.004000\t0.025000\t0.500000\tcut $'-d\\t' -f1\n"
    );
    let distances = tab_separated_values(&summary, Figures::Distances);
    assert_eq!(distances.lines().count(), 4);
    assert!(distances.ends_with("\n2\t708\t70\t1000\t930\t93211\t2\t72.000000\n"));
}
