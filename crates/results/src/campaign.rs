//! A whole campaign in figures: the suite, the exploration, each program and each test.

use serde::{Deserialize, Serialize};

use crate::inputs::InputFigures;

/// The suite whose executions were looked at.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Suite {
    /// The command.
    pub command: Vec<String>,
    /// How it ended: `exit 0`, `signal 2`.
    pub ended: String,
    /// How long it took, captured.
    pub seconds: f64,
    /// Executions of instrumented programs that it caused.
    pub executions: u64,
    /// Different ones among them: no two have the same program, arguments and inputs.
    pub tests: u64,
    /// Tests whose path another one had taken before: looked at once.
    pub same_path: u64,
    /// The part of the tests that was chosen, if not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
    /// Programs of unit tests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unit_tests: Vec<UnitTests>,
    /// What was not looked at, and why.
    #[serde(default)]
    pub skipped: Vec<Skipped>,
}

/// A program of unit tests, whose calls into the code under test are inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitTests {
    /// The test.
    pub test: String,
    /// The files that were taken for test code.
    pub test_files: Vec<String>,
    /// The files that are under test.
    pub files: Vec<String>,
    /// How many of their functions test code may call.
    pub functions: u64,
    /// Calls from the one into the other that are inputs.
    pub calls: u64,
    /// Calls that are not: more of the same places.
    #[serde(default)]
    pub left_out: u64,
    /// Whether there are more calls behind those that were counted.
    #[serde(default)]
    pub is_cut: bool,
    /// Whether runs end before the program does, some calls behind those that are inputs.
    #[serde(default)]
    pub ends_early: bool,
    /// Numbers that its calls were given.
    #[serde(default)]
    pub numbers: u64,
    /// Pointers to structures and the like that its calls were given.
    #[serde(default)]
    pub structures: u64,
    /// Why there are none, if something went wrong.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub trouble: String,
}

/// A random part of a suite.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// How much of the suite, in percent.
    pub percent: f64,
    /// What the choice started from.
    pub seed: u64,
    /// Tests that were chosen.
    pub chosen: u64,
    /// Of so many.
    pub of: u64,
    /// How likely a defect is missed, by the share of tests that lead to it.
    pub missed: Vec<Missed>,
}

/// How likely a defect is missed that a share of the tests lead to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Missed {
    /// The share of the tests, in percent.
    pub share: f64,
    /// The probability that none of them is in the sample, from 0 to 1.
    pub probability: f64,
}

/// Executions that were not looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Why, for a person.
    pub reason: String,
    /// How many.
    pub count: u64,
    /// One of them.
    pub example: String,
}

/// What was tried besides the recorded paths.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Exploration {
    /// The distance up to which every test was explored to its end; `None`: not even the
    /// recorded paths were.
    pub finished: Option<u32>,
    /// Programs that were run in the sandbox: to record, to explore, to confirm.
    pub runs: u64,
    /// New paths.
    pub paths: u64,
    /// Outcomes of branches on input data that new paths have and no test has.
    #[serde(default)]
    pub outcomes: u64,
    /// Runs that ended on a path that was known.
    pub known: u64,
    /// Runs that left the predicted path before they diverged from the recorded one.
    pub divergences: u64,
    /// Runs that had to be ended: they used up their time or memory.
    pub unended: u64,
    /// Branches that can go another way, that cannot, and that nobody knows of.
    pub feasible: u64,
    /// See `feasible`.
    pub infeasible: u64,
    /// See `feasible`.
    pub unknown: u64,
    /// What each distance cost and gave.
    pub distances: Vec<DistanceFigures>,
    /// What the paths that leave derived ones cost and gave, behind all distances.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deeper: Option<DistanceFigures>,
    /// What longer inputs of the tests' shapes cost and gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<GrowthFigures>,
    /// Why it ended.
    pub ended: EndReason,
}

/// Why an exploration ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EndReason {
    /// The largest distance that was asked for is done.
    Distance,
    /// Every path was explored: no alternative is left, and none was lost.
    Explored,
    /// No alternative is left that could be tried, but some were lost: not decided, not where they
    /// were predicted, or behind what was not recorded.
    Exhausted,
    /// Nothing is left to explore but around tests that took another path when they were run again.
    #[serde(rename = "another path")]
    AnotherPath,
    /// It was stopped from outside. So is what never came to say why it ended.
    #[default]
    Interrupted,
    /// The budget of runs is used up.
    Runs,
    /// The budget of time is used up.
    Time,
}

/// What longer inputs of the tests' shapes cost and gave.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GrowthFigures {
    /// Most repetitions of one part: `--grow`.
    pub most: u64,
    /// Parts of inputs that were repeated.
    pub parts: u64,
    /// Parts that may be repeated as well, beyond the maximum for a test: these were not.
    #[serde(default)]
    pub left_out: u64,
    /// What that cost and gave; at distance 1, since it is beside the tests' own paths.
    #[serde(flatten)]
    pub row: DistanceFigures,
}

/// What one distance cost and gave.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DistanceFigures {
    /// The distance.
    pub distance: u32,
    /// Tests that were explored to their end, and those that were not.
    pub finished: u64,
    /// See `finished`.
    pub unfinished: u64,
    /// Runs in the sandbox.
    pub runs: u64,
    /// New paths.
    pub paths: u64,
    /// Checks that were met.
    pub checks: u64,
    /// Defects that were found here first.
    pub findings: u64,
    /// Time, added up over all jobs.
    pub seconds: f64,
    /// CPU time of the jobs and of all that they ran, as far as it is known.
    #[serde(default)]
    pub cpu_seconds: f64,
}

/// One program in figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProgramFigures {
    /// The program's file.
    pub program: String,
    /// Executions in the suite.
    pub executions: u64,
    /// Different paths among them.
    pub tests: u64,
    /// How much input they saw, by kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<InputFigures>,
    /// Checks that were met on all paths.
    pub checks: u64,
    /// Places (file and line) that were checked.
    pub unique_checks: u64,
    /// New paths.
    pub paths: u64,
    /// Defects.
    pub findings: u64,
    /// Time of the executions in the suite.
    pub suite_seconds: f64,
    /// Time of the recorded executions.
    pub recorded_seconds: f64,
    /// Time of thinking and exploring.
    pub analysis_seconds: f64,
}

/// One test in figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TestFigures {
    /// `T1`, `T2`, …
    pub id: String,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// How many executions of the suite were this one, or took its path.
    pub executions: u64,
    /// Checks that were met on its own path.
    pub checks: u64,
    /// Places among them.
    pub unique_checks: u64,
    /// Time in the suite.
    pub suite_seconds: f64,
    /// Time of the recorded run.
    pub recorded_seconds: f64,
    /// Time of deciding the checks of its own path.
    pub analysis_seconds: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_json_names_of_end_reasons_stay() {
        let reasons = [
            (EndReason::Distance, "distance"),
            (EndReason::Explored, "explored"),
            (EndReason::AnotherPath, "another path"),
            (EndReason::Interrupted, "interrupted"),
            (EndReason::Runs, "runs"),
            (EndReason::Time, "time"),
        ];
        for (reason, name) in reasons {
            let json = format!("\"{name}\"");
            assert_eq!(serde_json::to_string(&reason).unwrap(), json);
            assert_eq!(serde_json::from_str::<EndReason>(&json).unwrap(), reason);
        }
    }
}
