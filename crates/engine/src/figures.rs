//! A campaign in figures: each program and each test of a suite.

use std::collections::{BTreeMap, BTreeSet};

use nearmiss_results::{Finding, ProgramFigures, Skipped, Suite, TestFigures, add_inputs};

use crate::confirmer::show_argument;
use crate::explore::{Seed, Standing};

/// Adds to a suite's figures what the exploration found out.
pub fn finish_suite(suite: &mut Suite, seeds: &[Seed]) {
    let is_same = |seed: &&Seed| matches!(seed.standing, Standing::SamePath(_));
    suite.same_path = seeds.iter().filter(is_same).count() as u64;
    for seed in seeds {
        let reason = match &seed.standing {
            Standing::Skipped(why) => why.clone(),
            Standing::Waiting => "there was no time to look at it".to_string(),
            Standing::Active if ended_otherwise(seed) => {
                "run again, it ended in another way than in the suite (looked at nevertheless)"
                    .to_string()
            }
            _ => continue,
        };
        skip(&mut suite.skipped, reason, seed);
    }
    for seed in seeds {
        if let Some(why) = &seed.stuck {
            let reason = format!("{why} (its own path was looked at, its neighbours were not)");
            skip(&mut suite.skipped, reason, seed);
        }
    }
}

/// Whether a test that ended by itself ended differently when it was run again.
fn ended_otherwise(seed: &Seed) -> bool {
    seed.test.ended.starts_with("exit")
        && !seed.state.ended.is_empty()
        && seed.test.ended != seed.state.ended
}

fn skip(skipped: &mut Vec<Skipped>, reason: String, seed: &Seed) {
    match skipped.iter_mut().find(|known| known.reason == reason) {
        Some(known) => known.count += seed.test.executions,
        None => skipped.push(Skipped {
            reason,
            count: seed.test.executions,
            example: command(seed).join(" "),
        }),
    }
}

fn command(seed: &Seed) -> Vec<String> {
    let arguments = &seed.test.capsule.arguments;
    arguments.iter().map(show_argument).collect()
}

/// The executions of each seed, with those of tests that took its path.
fn executions(seeds: &[Seed]) -> Vec<u64> {
    let mut executions: Vec<u64> = seeds.iter().map(|seed| seed.test.executions).collect();
    for seed in seeds {
        if let Standing::SamePath(first) = seed.standing {
            executions[first] += seed.test.executions;
        }
    }
    executions
}

/// Each program in figures, those with most checks first.
pub fn programs(seeds: &[Seed], findings: &[Finding]) -> Vec<ProgramFigures> {
    let mut programs: BTreeMap<String, ProgramFigures> = BTreeMap::new();
    let mut places: BTreeMap<String, BTreeSet<&(String, u32)>> = BTreeMap::new();
    for seed in seeds {
        let name = seed.test.program().display().to_string();
        let figures = programs.entry(name.clone()).or_default();
        let state = &seed.state;
        figures.executions += seed.test.executions;
        figures.suite_seconds += seed.test.seconds;
        if seed.is_active() {
            figures.tests += 1;
            add_inputs(&mut figures.inputs, &state.summary.inputs);
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
pub fn tests(seeds: &[Seed]) -> Vec<TestFigures> {
    let executions = executions(seeds);
    let rows = seeds.iter().zip(executions);
    rows.filter(|(seed, _)| seed.is_active())
        .map(|(seed, executions)| TestFigures {
            id: seed.test.id.clone(),
            argv: command(seed),
            executions,
            checks: seed.state.summary.checks.met,
            unique_checks: seed.state.places.len() as u64,
            suite_seconds: seed.test.seconds,
            recorded_seconds: seed.state.recorded_seconds,
            analysis_seconds: seed.state.own_seconds,
        })
        .collect()
}
