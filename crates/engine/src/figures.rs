//! A campaign in figures: each program and each test of a suite.

use std::collections::{BTreeMap, BTreeSet};

use nearmiss_results::{Finding, ProgramFigures, Skipped, Suite, TestFigures};

use crate::explore::{Slot, Standing};
use crate::hunt::show_argument;

/// Adds to a suite's figures what the exploration found out.
pub fn finish_suite(suite: &mut Suite, slots: &[Slot]) {
    let is_same = |slot: &&Slot| matches!(slot.standing, Standing::SamePath(_));
    suite.same_path = slots.iter().filter(is_same).count() as u64;
    for slot in slots {
        let reason = match &slot.standing {
            Standing::Skipped(why) => why.clone(),
            Standing::Waiting => "there was no time to look at it".to_string(),
            Standing::Active if ended_otherwise(slot) => {
                "run again, it ended in another way than in the suite (looked at nevertheless)"
                    .to_string()
            }
            _ => continue,
        };
        skip(&mut suite.skipped, reason, slot);
    }
    for slot in slots {
        if let Some(why) = &slot.stuck {
            let reason = format!("{why} (its own path was looked at, its neighbours were not)");
            skip(&mut suite.skipped, reason, slot);
        }
    }
}

/// Whether a test that ended by itself ended differently when it was run again.
fn ended_otherwise(slot: &Slot) -> bool {
    slot.test.ended.starts_with("exit")
        && !slot.state.ended.is_empty()
        && slot.test.ended != slot.state.ended
}

fn skip(skipped: &mut Vec<Skipped>, reason: String, slot: &Slot) {
    match skipped.iter_mut().find(|known| known.reason == reason) {
        Some(known) => known.count += slot.test.executions,
        None => skipped.push(Skipped {
            reason,
            count: slot.test.executions,
            example: command(slot).join(" "),
        }),
    }
}

fn command(slot: &Slot) -> Vec<String> {
    let arguments = &slot.test.capsule.arguments;
    arguments.iter().map(show_argument).collect()
}

/// The executions of each slot, with those of tests that took its path.
fn executions(slots: &[Slot]) -> Vec<u64> {
    let mut executions: Vec<u64> = slots.iter().map(|slot| slot.test.executions).collect();
    for slot in slots {
        if let Standing::SamePath(first) = slot.standing {
            executions[first] += slot.test.executions;
        }
    }
    executions
}

/// Each program in figures, those with most checks first.
pub fn programs(slots: &[Slot], findings: &[Finding]) -> Vec<ProgramFigures> {
    let mut programs: BTreeMap<String, ProgramFigures> = BTreeMap::new();
    let mut places: BTreeMap<String, BTreeSet<&(String, u32)>> = BTreeMap::new();
    for slot in slots {
        let name = slot.test.capsule.program.display().to_string();
        let figures = programs.entry(name.clone()).or_default();
        let state = &slot.state;
        figures.executions += slot.test.executions;
        figures.suite_seconds += slot.test.seconds;
        if slot.is_active() {
            figures.tests += 1;
            figures.checks += state.summary.checks.met;
            figures.paths += state.paths;
            figures.recorded_seconds += state.recorded_seconds;
            figures.analysis_seconds += state.seconds;
            places.entry(name).or_default().extend(&state.places);
        }
    }
    let mut rows: Vec<ProgramFigures> = programs
        .into_iter()
        .map(|(program, figures)| ProgramFigures {
            unique_checks: places.get(&program).map_or(0, BTreeSet::len) as u64,
            findings: findings
                .iter()
                .filter(|found| leads_there(found, &program))
                .count() as u64,
            program,
            ..figures
        })
        .collect();
    rows.sort_by(|one, other| (other.checks, &one.program).cmp(&(one.checks, &other.program)));
    rows
}

/// Whether a test of a program leads to a finding.
fn leads_there(found: &Finding, program: &str) -> bool {
    let is_it = |file: &std::path::Path| file.display().to_string() == program;
    is_it(&found.test.program) || found.leads.iter().any(|lead| is_it(&lead.program))
}

/// Each test in figures, in the order of the suite.
pub fn tests(slots: &[Slot]) -> Vec<TestFigures> {
    let executions = executions(slots);
    let rows = slots.iter().zip(executions);
    rows.filter(|(slot, _)| slot.is_active())
        .map(|(slot, executions)| TestFigures {
            id: slot.test.id.clone(),
            argv: command(slot),
            executions,
            checks: slot.state.summary.checks.met,
            unique_checks: slot.state.places.len() as u64,
            suite_seconds: slot.test.seconds,
            recorded_seconds: slot.state.recorded_seconds,
            analysis_seconds: slot.state.own_seconds,
        })
        .collect()
}
