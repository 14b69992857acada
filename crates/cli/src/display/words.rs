//! Numbers of a campaign in words: pure functions.

use std::time::Duration;

use nearmiss_report::words::{counted, shortened, time};
use nearmiss_search::Phase;

use super::snapshot::Snapshot;
use super::speed::Speed;

/// The lines of a live display, none longer than the terminal is wide; none at all while the
/// terminal is the suite's.
pub fn live(now: &Snapshot, speed: Speed, width: usize) -> Vec<String> {
    let rows = match now.phase {
        Phase::Starting | Phase::Building(_) | Phase::Recording => Vec::new(),
        Phase::Sorting => vec![vec![sorting(now)]],
        Phase::Exploring => vec![progress(now), pace(now, speed)],
        Phase::Reporting => vec![vec![now.phase.to_string()]],
    };
    // A line that fills the last column makes some terminals wrap.
    let width = width.saturating_sub(1);
    rows.iter().map(|parts| fitting(parts, width)).collect()
}

/// One line for a log; none while the suite itself writes there.
pub fn log(now: &Snapshot, speed: Speed) -> Option<String> {
    let parts = match now.phase {
        Phase::Starting | Phase::Building(_) | Phase::Recording | Phase::Reporting => return None,
        Phase::Sorting => vec![sorting(now)],
        Phase::Exploring => [progress(now), pace(now, speed)].concat(),
    };
    let elapsed = whole_seconds(now.elapsed);
    Some(format!("nearmiss: {elapsed}: {}", parts.join(", ")))
}

fn sorting(now: &Snapshot) -> String {
    let executions = counted(now.executions, "execution");
    let tests = counted(now.tests, "test");
    format!("sorting {executions}: {tests} so far")
}

/// How far it has come, the most important first.
fn progress(now: &Snapshot) -> Vec<String> {
    let mut parts = vec![format!("distance {}", now.distance)];
    // A single run is no suite.
    if now.tests > 1 {
        parts.push(format!("{} of {} tests", now.tests_done, now.tests));
    }
    parts.push(counted(now.findings, "finding"));
    parts.push(format!("{} of {} checks decided", now.decided, now.checks));
    if now.paths > 0 {
        parts.push(counted(now.paths, "new path"));
    }
    parts
}

/// How fast it goes on, the most important first.
fn pace(now: &Snapshot, speed: Speed) -> Vec<String> {
    let mut parts = Vec::new();
    match now.left {
        _ if now.is_stopping => parts.push("stopping".to_string()),
        Some(Duration::ZERO) => parts.push("time is over, finishing".to_string()),
        Some(left) => parts.push(format!("{} left", whole_seconds(left))),
        None => {}
    }
    parts.push(format!("{} runs/s", rate(speed.runs)));
    parts.push(format!("{} queries/s", rate(speed.queries)));
    if now.builds > 0 {
        let programs = counted(now.builds, "program");
        parts.push(format!("building {programs}"));
    }
    parts
}

/// So much in a second.
pub fn rate(value: f64) -> String {
    match value < 9.95 && value > 0.0 {
        true => format!("{value:.1}"),
        false => format!("{value:.0}"),
    }
}

/// Tenths of a second would only flicker.
pub fn whole_seconds(duration: Duration) -> String {
    match duration.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds => time(seconds as f64),
    }
}

/// As many parts as fit; at least the first, cut if it must be.
pub fn fitting(parts: &[String], width: usize) -> String {
    let mut line = String::new();
    for part in parts {
        let longer = match line.is_empty() {
            true => shortened(part, width),
            false => format!("{line} · {part}"),
        };
        if longer.chars().count() > width {
            break;
        }
        line = longer;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exploring() -> Snapshot {
        Snapshot {
            phase: Phase::Exploring,
            elapsed: Duration::from_secs(95),
            left: Some(Duration::from_millis(133_900)),
            executions: 812,
            tests: 163,
            tests_done: 37,
            distance: 1,
            checks: 93_400,
            decided: 93_211,
            paths: 12,
            findings: 2,
            ..Snapshot::default()
        }
    }

    const SPEED: Speed = Speed {
        runs: 4.53,
        queries: 310.2,
    };

    #[test]
    fn two_lines_while_exploring() {
        assert_eq!(
            live(&exploring(), SPEED, 120),
            [
                "distance 1 · 37 of 163 tests · 2 findings · 93211 of 93400 checks decided · 12 new paths",
                "2m 13s left · 4.5 runs/s · 310 queries/s",
            ]
        );
    }

    #[test]
    fn a_narrow_terminal_has_the_first_parts() {
        for width in 0..140 {
            let lines = live(&exploring(), SPEED, width);
            assert_eq!(lines.len(), 2);
            assert!(lines.iter().all(|line| line.chars().count() < width.max(1)));
        }
        assert_eq!(
            live(&exploring(), SPEED, 30),
            ["distance 1 · 37 of 163 tests", "2m 13s left · 4.5 runs/s"]
        );
        assert_eq!(live(&exploring(), SPEED, 8), ["distan…", "2m 13s…"]);
    }

    #[test]
    fn a_single_run_has_no_count_of_tests() {
        let now = Snapshot {
            tests: 1,
            paths: 0,
            findings: 1,
            left: None,
            builds: 1,
            ..exploring()
        };
        assert_eq!(
            live(&now, Speed::default(), 100),
            [
                "distance 1 · 1 finding · 93211 of 93400 checks decided",
                "0 runs/s · 0 queries/s · building 1 program",
            ]
        );
    }

    #[test]
    fn the_end_is_announced() {
        let over = Snapshot {
            left: Some(Duration::ZERO),
            ..exploring()
        };
        assert!(live(&over, SPEED, 99)[1].starts_with("time is over, finishing · "));
        let stopping = Snapshot {
            is_stopping: true,
            ..over
        };
        assert!(live(&stopping, SPEED, 99)[1].starts_with("stopping · "));
    }

    #[test]
    fn the_terminal_is_the_suites_while_it_runs() {
        for phase in [Phase::Starting, Phase::Recording] {
            let now = Snapshot {
                phase,
                ..exploring()
            };
            assert!(live(&now, SPEED, 80).is_empty());
            assert_eq!(log(&now, SPEED), None);
        }
    }

    #[test]
    fn a_line_of_a_log() {
        assert_eq!(
            log(&exploring(), SPEED).unwrap(),
            "nearmiss: 1m 35s: distance 1, 37 of 163 tests, 2 findings, \
             93211 of 93400 checks decided, 12 new paths, 2m 13s left, 4.5 runs/s, 310 queries/s"
        );
        let sorting = Snapshot {
            phase: Phase::Sorting,
            elapsed: Duration::from_secs(9),
            ..exploring()
        };
        assert_eq!(
            log(&sorting, SPEED).unwrap(),
            "nearmiss: 9 s: sorting 812 executions: 163 tests so far"
        );
    }
}
