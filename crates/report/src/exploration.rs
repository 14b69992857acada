//! The exploration as text: how far it got, what it cost, what it gave.

use std::fmt::{self, Write};

use nearmiss_results::{DistanceFigures, EndReason, Exploration};

use crate::table::{Column, table};
use crate::words::counted;

/// Around what was explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Around {
    /// A single run.
    OnePath,
    /// The tests of a suite.
    Suite,
}

/// The exploration in figures.
pub fn block(exploration: &Exploration, around: Around) -> String {
    let mut text = String::new();
    // Writing into a string does not fail.
    let _ = write_extent(&mut text, exploration, around);
    let _ = write_runs(&mut text, exploration);
    let _ = write_growth(&mut text, exploration);
    // One distance alone is what has just been said.
    if around == Around::Suite && exploration.distances.len() > 1 {
        text += &distances(exploration);
    }
    text
}

fn write_extent(text: &mut String, exploration: &Exploration, around: Around) -> fmt::Result {
    let far = match (exploration.finished, around) {
        (None, Around::Suite) => "not even the recorded paths were looked at whole".into(),
        (None, Around::OnePath) => "not even the recorded path was looked at whole".into(),
        (Some(0), Around::Suite) => "all recorded paths were looked at".into(),
        (Some(0), Around::OnePath) => "the recorded path was looked at".into(),
        (Some(far), Around::Suite) => format!("done for every test up to distance {far}"),
        (Some(far), Around::OnePath) => format!("done up to distance {far}"),
    };
    let why = match (exploration.ended, around) {
        (EndReason::Explored, _) => "there is nothing more to explore",
        (EndReason::Exhausted, _) => {
            "nothing is left that could be tried (not every path was: some alternatives were lost)"
        }
        (EndReason::Time, _) => "the time was over",
        (EndReason::Runs, _) => "all runs were used up",
        (EndReason::Distance, _) => "no larger distance was wanted",
        (EndReason::Interrupted, _) => "it was interrupted",
        (EndReason::AnotherPath, Around::Suite) => {
            "of what could be run again nothing more is to be explored"
        }
        (EndReason::AnotherPath, Around::OnePath) => {
            "the program took another path when it was run again"
        }
    };
    writeln!(text, "Exploration: {far}; it ended because {why}.")
}

fn write_runs(text: &mut String, exploration: &Exploration) -> fmt::Result {
    let Exploration {
        runs,
        paths,
        known,
        divergences,
        unended,
        outcomes,
        feasible,
        infeasible,
        unknown,
        ..
    } = exploration;
    write!(
        text,
        "  {}, {}",
        counted(*runs, "run"),
        counted(*paths, "new path")
    )?;
    let of_branches = match outcomes {
        1 => "outcome of a branch that no test has",
        _ => "outcomes of branches that no test has",
    };
    let rest = [
        (outcomes, of_branches),
        (known, "ended on a path that was known"),
        (divergences, "left the predicted path"),
        (unended, "had to be ended"),
    ];
    write_counts(text, &rest)?;
    if feasible + infeasible + unknown > 0 {
        write!(text, "  Branches: {feasible} can go another way")?;
        write_counts(text, &[(infeasible, "cannot"), (unknown, "not known")])?;
    }
    Ok(())
}

/// What was tried beyond the shape of the tests' inputs.
fn write_growth(text: &mut String, exploration: &Exploration) -> fmt::Result {
    let Some(growth) = &exploration.growth else {
        return Ok(());
    };
    let runs = counted(growth.row.runs, "run");
    write!(text, "  Inputs of other shapes: {runs}")?;
    if growth.parts > 0 {
        let parts = counted(growth.parts, "part");
        write!(
            text,
            ", {parts} of the input repeated up to {} times, as far as there is room",
            growth.most
        )?;
    }
    match (growth.row.unfinished, growth.left_out) {
        (0, 0) => writeln!(text, "."),
        (0, more) => writeln!(text, "; {more} more were not tried."),
        _ => writeln!(text, "; not all that may grow was tried."),
    }
}

fn write_counts(text: &mut String, counts: &[(&u64, &str)]) -> fmt::Result {
    for (count, words) in counts.iter().filter(|(count, _)| **count > 0) {
        write!(text, ", {count} {words}")?;
    }
    writeln!(text, ".")
}

fn distances(exploration: &Exploration) -> String {
    let columns = [
        Column::Right("distance"),
        Column::Right("tests done"),
        Column::Right("runs"),
        Column::Right("new paths"),
        Column::Right("checks"),
        Column::Right("findings"),
        Column::Right("time"),
    ];
    let row = |name: String, done: String, one: &DistanceFigures| {
        vec![
            name,
            done,
            one.runs.to_string(),
            one.paths.to_string(),
            one.checks.to_string(),
            one.findings.to_string(),
            format!("{:.1} s", one.seconds),
        ]
    };
    let at_distance = |one: &DistanceFigures| {
        let done = format!("{} of {}", one.finished, one.finished + one.unfinished);
        row(one.distance.to_string(), done, one)
    };
    let deeper = exploration.deeper.iter();
    let growth = exploration.growth.iter().map(|growth| {
        let all = growth.row.finished + growth.row.unfinished;
        let done = format!("{} of {all}", growth.row.finished);
        row("longer".into(), done, &growth.row)
    });
    let rows: Vec<Vec<String>> = (exploration.distances.iter())
        .map(at_distance)
        .chain(growth)
        .chain(deeper.map(|one| row("deeper".into(), "-".into(), one)))
        .collect();
    table(&columns, &rows, "  ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmiss_results::GrowthFigures;

    fn growth(parts: u64, unfinished: u64, left_out: u64) -> String {
        let row = DistanceFigures {
            runs: 40,
            unfinished,
            ..DistanceFigures::default()
        };
        let growth = Some(GrowthFigures {
            most: 5000,
            parts,
            left_out,
            row,
        });
        let exploration = Exploration {
            growth,
            ..Exploration::default()
        };
        let mut text = String::new();
        write_growth(&mut text, &exploration).expect("a string can be written");
        text
    }

    #[test]
    fn what_was_tried_beyond_the_shape() {
        assert_eq!(
            growth(7, 0, 0),
            "  Inputs of other shapes: 40 runs, 7 parts of the input repeated up to 5000 times, as far as there is room.\n"
        );
        assert_eq!(
            growth(64, 0, 3),
            "  Inputs of other shapes: 40 runs, 64 parts of the input repeated up to 5000 times, as far as there is room; \
             3 more were not tried.\n"
        );
        assert_eq!(
            growth(0, 1, 0),
            "  Inputs of other shapes: 40 runs; not all that may grow was tried.\n"
        );
    }
}
