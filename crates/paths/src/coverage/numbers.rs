//! Numbers for the report, from what `llvm-cov` says.

use nearmiss_results::{Coverage, Covered};
use serde_json::Value;

use super::goals::Goal;
use super::image::Function;

/// What is known of some functions.
#[derive(Clone, Debug, Default)]
pub struct Numbers {
    /// All numbers.
    pub coverage: Coverage,
    /// Conditions that were not shown to matter on their own.
    pub conditions: Vec<Goal>,
}

/// Counts branches and conditions of these functions in `llvm-cov`'s export, and lines in lcov's.
pub fn count(export: &Value, lcov: &str, functions: &[&Function]) -> Numbers {
    let mut numbers = Numbers::default();
    for function in functions {
        let rows = (export["data"].as_array().into_iter().flatten())
            .flat_map(|unit| unit["functions"].as_array().into_iter().flatten())
            .filter(|row| row["name"].as_str() == Some(&function.name));
        for row in rows {
            numbers.add_branches(&row["branches"]);
            numbers.add_decisions(&row["mcdc_records"], function);
        }
        numbers.add_lines(lcov, function);
    }
    numbers
}

impl Numbers {
    /// `[line, column, line, column, true, false, …]`
    fn add_branches(&mut self, branches: &Value) {
        for branch in branches.as_array().into_iter().flatten() {
            for outcome in [4, 5] {
                let times = branch[outcome].as_u64().unwrap_or(0);
                add(&mut self.coverage.branches, times > 0);
            }
        }
    }

    /// `[line, column, line, column, file, kind, [conditions]]`
    fn add_decisions(&mut self, decisions: &Value, function: &Function) {
        let number = |value: &Value| value.as_u64().unwrap_or(0) as u32;
        for decision in decisions.as_array().into_iter().flatten() {
            let conditions = (decision.as_array().into_iter().flatten()).find_map(Value::as_array);
            let conditions = conditions.map_or(&[][..], Vec::as_slice);
            for (index, condition) in conditions.iter().enumerate() {
                let shown = condition.as_bool() == Some(true);
                add(&mut self.coverage.mcdc, shown);
                if !shown {
                    self.conditions.push(Goal {
                        file: function.file.clone(),
                        line: number(&decision[0]),
                        column: number(&decision[1]),
                        what: format!("condition {} of {}", index + 1, conditions.len()),
                    });
                }
            }
        }
    }

    /// `DA:line,times`
    fn add_lines(&mut self, lcov: &str, function: &Function) {
        let Some(whole) = function.mapping.regions.first() else {
            return;
        };
        let lines = whole.start.0..=whole.end.0;
        for row in lcov.lines().filter_map(|line| line.strip_prefix("DA:")) {
            let Some((line, times)) = row.split_once(',') else {
                continue;
            };
            if line.parse().is_ok_and(|line: u32| lines.contains(&line)) {
                add(&mut self.coverage.lines, times.trim() != "0");
            }
        }
    }
}

fn add(covered: &mut Covered, is_covered: bool) {
    covered.total += 1;
    covered.covered += u64::from(is_covered);
}
