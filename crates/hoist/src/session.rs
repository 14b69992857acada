//! `nearmiss hoist`: unit tests are run once for each function, and what its calls reveal becomes its contract.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use nearmiss_abi::environment::{HOIST, OPTION_CHANNELS, OPTIONS, RECORD};
use nearmiss_contracts::{Contract, Subject as Of};
use nearmiss_harness::Unit;
use nearmiss_harness::entry::Definition;
use nearmiss_sites::Sites;
use nearmiss_sites::rewrite::EntryCheck;
use nearmiss_trace::RawTrace;

use crate::calls::Calls;
use crate::inputs::Input;
use crate::plan::{self, LEAVE, Plan};
use crate::program::{Subject, entry, shown};
use crate::simplify::simplify;
use crate::{standing, words};

/// What is wanted.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The program of unit tests.
    pub subject: Subject<'a>,
    /// Its arguments, without its name.
    pub arguments: &'a [OsString],
    /// How the command is called in contracts.
    pub command: String,
    /// Where it runs.
    pub working_directory: &'a Path,
    /// The functions: names, or patterns with `*` and `?`.
    pub functions: &'a [String],
    /// The time for making one contract shorter.
    pub time: Duration,
}

/// What the tests reveal of one function.
#[derive(Clone, Debug)]
pub struct Hoisted {
    /// The function.
    pub function: Definition,
    /// Its contract.
    pub contract: Contract,
    /// Calls of it that were recorded.
    pub calls: u64,
    /// Paths that they took.
    pub paths: u64,
    /// Checks on these paths that depend on what it is given.
    pub checks: u64,
    /// Clauses that are too long to be read.
    pub left_out: u64,
    /// Checks that a contract cannot say, by the place of what it cannot say: file and line.
    pub unsaid: Vec<(String, u64)>,
}

/// Runs the tests and derives contracts.
pub fn hoist(request: &Request) -> Result<Vec<Hoisted>, String> {
    let subject = &request.subject;
    let unit = subject.debug_information()?;
    let functions = wanted(&unit, request.functions)?;
    let globals = subject.globals(&functions);
    let plans: Vec<Plan> = (functions.iter().zip(&globals))
        .map(|(function, globals)| Plan::of(&unit, function, globals))
        .collect();
    let checks = functions.iter().zip(&plans).enumerate();
    let checks = checks.map(|(number, (function, plan))| EntryCheck {
        leave: LEAVE.into(),
        replaces: true,
        ..entry(function, &plan.globals, plan::enter_name(number))
    });
    let variant = subject.variant("hoist", &plan::recorder(&plans), checks.collect())?;
    let sites = nearmiss_twin::inspect(&variant.program, &subject.libraries_of(&variant))
        .map_err(|error| error.to_string())?
        .sites;
    let mut all = Vec::new();
    for (number, (function, plan)) in functions.into_iter().zip(plans).enumerate() {
        let calls = recorded(request, (&variant.program, number), &sites, &plan.inputs)?;
        all.push(finish(request, function, &plan.inputs, calls, &sites));
    }
    Ok(all)
}

/// The functions that are meant.
fn wanted(unit: &Unit, patterns: &[String]) -> Result<Vec<Definition>, String> {
    let definitions = unit.definitions();
    let mut found: Vec<Definition> = Vec::new();
    for pattern in patterns {
        let is_meant = |it: &&Definition| {
            matches(pattern, &it.name) && it.name != "main" && !it.name.starts_with("__nm_")
        };
        let before = found.len();
        for definition in definitions.iter().filter(is_meant) {
            let is_system = |(file, _): &(String, u32)| file.starts_with("/usr/include/");
            let known = found.contains(definition);
            if !known && !definition.place.as_ref().is_some_and(is_system) {
                found.push(definition.clone());
            }
        }
        if found.len() == before {
            let part = pattern.trim_matches(['*', '?']);
            let near = definitions.iter().filter(|it| it.name.contains(part));
            let near: Vec<&str> = near.map(|it| it.name.as_str()).take(8).collect();
            let hint = match near.is_empty() {
                true => String::new(),
                false => format!(": there are {}", near.join(", ")),
            };
            return Err(format!("the program has no function {pattern}{hint}"));
        }
    }
    Ok(found)
}

/// Whether a name is as a pattern with `*` and `?` says.
pub fn matches(pattern: &str, name: &str) -> bool {
    match (pattern.chars().next(), name.chars().next()) {
        (None, None) => true,
        (Some('*'), _) => {
            matches(&pattern[1..], name) || !name.is_empty() && matches(pattern, &name[1..])
        }
        (Some('?'), Some(first)) => matches(&pattern[1..], &name[first.len_utf8()..]),
        (Some(one), Some(other)) if one == other => {
            matches(&pattern[one.len_utf8()..], &name[other.len_utf8()..])
        }
        _ => false,
    }
}

/// Runs the tests, and reads what the calls of one function reveal.
fn recorded(
    request: &Request,
    (program, number): (&Path, usize),
    sites: &Sites,
    inputs: &[Input],
) -> Result<Calls, String> {
    let traces = request.subject.directory.join("traces");
    let named = |error: std::io::Error| format!("{}: {error}", traces.display());
    let _ = fs::remove_dir_all(&traces);
    fs::create_dir_all(&traces).map_err(named)?;
    let traces = traces.canonicalize().map_err(named)?;
    let status = Command::new(program)
        .args(request.arguments)
        .current_dir(request.working_directory)
        .env(RECORD, &traces)
        .env(OPTIONS, format!("{OPTION_CHANNELS}=n"))
        .env(HOIST, number.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.map_err(|error| format!("{}: {error}", program.display()))?;
    let mut files: Vec<PathBuf> = fs::read_dir(&traces)
        .map_err(named)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "trace"))
        .collect();
    files.sort();
    let mut calls = Calls::default();
    for file in files {
        if let Ok(raw) = RawTrace::open(&file) {
            calls.add(&raw, sites, inputs);
        }
    }
    let _ = fs::remove_dir_all(&traces);
    Ok(calls)
}

/// Makes the contract of a function.
fn finish(
    request: &Request,
    function: Definition,
    inputs: &[Input],
    calls: Calls,
    sites: &Sites,
) -> Hoisted {
    let simple = simplify(calls.clauses, inputs, request.time);
    let mut left_out = simple.left_out;
    let mut requires = Vec::new();
    for (clause, _) in &simple.clauses {
        match words::formula(clause, inputs) {
            Some(formula) => requires.push(formula),
            None => left_out += 1,
        }
    }
    let plural = |count: u64, word: &str| match count {
        1 => format!("1 {word}"),
        _ => format!("{count} {word}s"),
    };
    let file = function.place.as_ref().map(|(file, _)| file.as_str());
    let read = |path: &Path| fs::read_to_string(path).ok();
    let contract = Contract {
        function: function.name.clone(),
        parameters: function.parameters.clone(),
        from: format!(
            "hoist {}: {} on {}",
            request.command,
            plural(calls.calls, "call"),
            plural(calls.paths, "path")
        ),
        subject: Of {
            file: file.map_or(String::new(), |file| shown(file, request.working_directory)),
            signature: function.signature.clone(),
            body: standing::body(&function, &read).unwrap_or_default(),
        },
        requires,
    };
    let place = |(site, count): (nearmiss_abi::site::SiteId, u64)| {
        let place = sites
            .get(site)
            .map(|(unit, site)| (unit.file_of(site).to_string(), site.line));
        let (file, line) = place.unwrap_or_default();
        (format!("{file}:{line}"), count)
    };
    Hoisted {
        function,
        contract,
        calls: calls.calls,
        paths: calls.paths,
        checks: calls.checks,
        left_out,
        unsaid: calls.unsaid.into_iter().map(place).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_are_those_of_shells() {
        for (pattern, name, expected) in [
            ("set", "set", true),
            ("set", "sets", false),
            ("buf_*", "buf_push", true),
            ("buf_*", "buf", false),
            ("*", "anything", true),
            ("*_?et*", "map_get_all", true),
            ("?", "", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
