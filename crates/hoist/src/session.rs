//! `nearmiss hoist`: unit tests are run once for each function, and what its calls reveal becomes its contract.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use nearmiss_contracts::{Contract, Subject as Of};
use nearmiss_harness::Unit;
use nearmiss_harness::entry::Definition;
use nearmiss_sandbox::Sandbox;
use nearmiss_sites::Sites;
use nearmiss_sites::rewrite::{EntryCheck, Given, absolute};
use nearmiss_twin::TwinProgram;

use crate::applied::prepare;
use crate::calls::Calls;
use crate::clock::Clock;
use crate::derive::{Derived, derive};
use crate::inputs::Input;
use crate::plan::{self, LEAVE, Plan};
use crate::program::{Subject, entry, shown};
use crate::shown::sample::fillers;
use crate::shown::trial::{Bench, Known, Trials};
use crate::{record, standing};

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
    /// Contracts in force: one of a function that is called deeper down is a check on the path.
    pub contracts: &'a [Contract],
    /// Until when.
    pub clock: Clock<'a>,
    /// Where calls with other inputs are made.
    pub sandbox: &'a Sandbox,
    /// The environment of the tests.
    pub environment: &'a [(OsString, OsString)],
    /// How many such calls may be made for one function; 0: requirements are neither generalised nor shown.
    pub runs: usize,
}

/// How often tests are run again because what they call has got a stronger contract: calls may lie that deep.
const MOST_ROUNDS: usize = 4;
/// What the first round may take of the time, if there are more: so many parts of so many.
const FIRST_ROUND: (u32, u32) = (2, 3);

/// What the tests reveal of one function.
#[derive(Clone, Debug)]
pub struct Hoisted {
    /// The function.
    pub function: Definition,
    /// Its contract.
    pub contract: Contract,
    /// Calls of it that were recorded.
    pub calls: u64,
    /// Calls that there was no time for, or not for their whole path.
    pub skipped: u64,
    /// Whether the tests were ended before they were done.
    pub is_cut_off: bool,
    /// Paths that they took.
    pub paths: u64,
    /// Checks on these paths that depend on what it is given.
    pub checks: u64,
    /// Why requirements were not shown on both sides, by number.
    pub open: BTreeMap<usize, String>,
    /// Clauses that no requirement that can be read says.
    pub left_out: u64,
    /// Clauses that calls of the tests do not keep to, without failing.
    pub contradicted: u64,
    /// Requirements that are not true: a call that violates them does not fail.
    pub refuted: u64,
    /// Requirements that no call shows.
    pub unseen: u64,
    /// Inputs of which only the first elements are looked at.
    pub cut: Vec<String>,
    /// Checks that a contract cannot say, by the place of what it cannot say: file and line.
    pub unsaid: Vec<(String, u64)>,
}

/// What a session came to.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// The functions, in the order in which they were wanted.
    pub functions: Vec<Hoisted>,
    /// Contracts that are in force and cannot be used, and why.
    pub unused: Vec<(String, String)>,
    /// Why no calls with other inputs were made, if none could be.
    pub untried: Option<String>,
    /// Wanted functions that there was no time for.
    pub skipped: Vec<String>,
    /// Whether there was no time to ask what contracts of deeper functions require of their callers.
    pub is_unsettled: bool,
}

/// Runs the tests and derives contracts. Those of functions that other wanted ones call strengthen the contracts of
/// these: so the tests are run again with them in force, until nothing changes.
pub fn hoist(request: &Request) -> Result<Session, String> {
    let unit = request.subject.debug_information()?;
    let functions = wanted(&unit, request.functions)?;
    let is_new = |contract: &&Contract| {
        !(contract.is_hoisted() && functions.iter().any(|it| it.name == contract.function))
    };
    let known: Vec<Contract> = request.contracts.iter().filter(is_new).cloned().collect();
    let mut workshop = Workshop {
        request,
        unit: &unit,
        functions: &functions,
        bench: None,
        known: HashMap::new(),
        found: vec![None; functions.len()],
    };
    let mut in_force = known.clone();
    let has_deeper = functions.len() > 1;
    let first = match has_deeper {
        true => request.clock.share(FIRST_ROUND.0, FIRST_ROUND.1),
        false => request.clock,
    };
    let unused = workshop.round(&in_force, first)?;
    let mut is_settled = !has_deeper;
    for _ in 1..MOST_ROUNDS {
        let mut next = known.clone();
        let found = workshop.found.iter().flatten();
        next.extend(found.map(|it| it.contract.clone()));
        next.retain(|contract| !contract.requires.is_empty());
        // The calls that show a requirement make no difference.
        next.iter_mut().for_each(|contract| contract.shown.clear());
        is_settled |= next == in_force;
        if is_settled || request.clock.is_over() {
            break;
        }
        in_force = next;
        workshop.round(&in_force, request.clock)?;
    }
    Ok(workshop.session(unused, is_settled))
}

/// What is kept from one round to the next.
struct Workshop<'r, 'a> {
    request: &'r Request<'a>,
    unit: &'r Unit,
    functions: &'r [Definition],
    /// How calls are made; `None`: not yet.
    bench: Option<Result<Bench, String>>,
    /// What calls came to, by function.
    known: HashMap<usize, Known>,
    /// What is known of each function; `None`: nothing yet.
    found: Vec<Option<Hoisted>>,
}

impl Workshop<'_, '_> {
    /// Runs the tests once for each function, with these contracts in force. Gives those that could not be used, and why.
    fn round(
        &mut self,
        in_force: &[Contract],
        clock: Clock,
    ) -> Result<Vec<(String, String)>, String> {
        let (request, functions, unit) = (self.request, self.functions, self.unit);
        let subject = &request.subject;
        let prepared = prepare(unit, in_force, request.working_directory);
        let globals = subject.globals(functions);
        let plans: Vec<Plan> = (functions.iter().zip(&globals))
            .map(|(function, globals)| Plan::of(unit, function, globals))
            .collect();
        let checks = functions.iter().zip(&plans).enumerate();
        let checks = checks.map(|(number, (function, plan))| EntryCheck {
            given: Given::Places {
                leave: LEAVE.into(),
            },
            ..entry(function, &plan.globals, plan::enter_name(number))
        });
        // What comes last is called first: a function's own contract is no check of its call.
        let checks = checks.chain(prepared.entries.iter().cloned()).collect();
        let source = plan::recorder(&plans) + &prepared.source();
        let variant = subject.variant("hoist", &source, checks)?;
        let sites = nearmiss_twin::inspect(&variant.program, &subject.libraries_of(&variant))
            .map_err(|error| error.to_string())?
            .sites;
        let tests = test_file(unit);
        self.prepare_bench(&variant, tests.as_deref());
        for (number, (function, plan)) in functions.iter().zip(&plans).enumerate() {
            if clock.is_over() {
                break;
            }
            let own = clock.share(1, (functions.len() - number) as u32);
            let mut calls = Calls::of(function, tests.as_deref());
            // One function whose recording is slow leaves the others their time.
            let run = (variant.program.as_path(), number);
            let (traces, is_cut_off) = record::run(request, run, own.share(1, 2))?;
            calls.is_cut_off = is_cut_off;
            record::read(&traces, &sites, &plan.inputs, &mut calls, own.share(1, 2));
            let derived = self.derive(number, &calls, &plan.inputs, &sites, own);
            // What an interruption leaves half done is not kept, nor is what an earlier round knew with more time.
            let is_half_done = clock.is_interrupted() || clock.is_over() && calls.skipped > 0;
            if !is_half_done || !clock.is_interrupted() && self.found[number].is_none() {
                let work = (calls, derived);
                let hoisted = finish(request, function.clone(), &plan.inputs, work, &sites);
                self.found[number] = Some(hoisted);
            }
        }
        Ok(prepared.unused)
    }

    /// What there is at the end.
    fn session(self, unused: Vec<(String, String)>, is_settled: bool) -> Session {
        let names = self.functions.iter().zip(&self.found);
        let skipped = names.filter(|(_, found)| found.is_none());
        Session {
            unused,
            untried: self.bench.and_then(|it| it.err()),
            skipped: skipped.map(|(function, _)| function.name.clone()).collect(),
            is_unsettled: !is_settled,
            functions: self.found.into_iter().flatten().collect(),
        }
    }

    /// Builds the twin in which calls are made, once: contracts in force make no difference there.
    fn prepare_bench(&mut self, variant: &TwinProgram, tests: Option<&str>) {
        let request = self.request;
        if self.bench.is_some() || request.runs == 0 {
            return;
        }
        let directory = request.subject.directory.join("trials");
        let built = request.subject.twin_of(variant, &directory);
        let directory = directory.canonicalize().unwrap_or(directory);
        self.bench = Some(built.map(|twin| Bench {
            sandbox: request.sandbox.clone(),
            twin,
            arguments: request.arguments.to_vec(),
            environment: request.environment.to_vec(),
            working_directory: request.working_directory.to_path_buf(),
            directory,
            tests: tests.map(str::to_string),
        }));
    }

    fn derive(
        &mut self,
        number: usize,
        calls: &Calls,
        inputs: &[Input],
        sites: &Sites,
        clock: Clock,
    ) -> Derived {
        let known = self.known.entry(number).or_default();
        // In several processes it is not known which call is meant.
        let bench = self.bench.as_ref().filter(|_| calls.processes == 1);
        let fillers = fillers(&calls.clauses, inputs);
        let trials = bench.and_then(|it| it.as_ref().ok()).map(|bench| Trials {
            bench,
            number,
            inputs,
            calls: &calls.given,
            fillers: &fillers,
            known,
            left: self.request.runs,
            clock,
        });
        derive(calls, inputs, sites, trials, clock)
    }
}

/// The file of the tests: that of `main`.
fn test_file(unit: &Unit) -> Option<String> {
    let definitions = unit.definitions();
    let main = definitions.iter().find(|it| it.name == "main")?;
    main.place.as_ref().map(|(file, _)| absolute("/", file))
}

/// Where the source of a function lies.
fn folder(function: &Definition) -> Option<PathBuf> {
    let (file, _) = function.place.as_ref()?;
    Path::new(file).parent().map(Path::to_path_buf)
}

/// The functions that are meant: what is linked into every program is none of them.
fn wanted(unit: &Unit, patterns: &[String]) -> Result<Vec<Definition>, String> {
    let mut definitions = unit.definitions();
    let of_runtime: HashSet<PathBuf> = (definitions.iter())
        .filter(|it| it.name.starts_with("__nm_"))
        .filter_map(folder)
        .collect();
    definitions.retain(|it| {
        let folder = folder(it);
        let is_system = |it: &PathBuf| it.starts_with("/usr/include");
        !folder.is_some_and(|folder| is_system(&folder) || of_runtime.contains(&folder))
    });
    let mut found: Vec<Definition> = Vec::new();
    for pattern in patterns {
        let is_meant = |it: &&Definition| matches(pattern, &it.name) && it.name != "main";
        let meant: Vec<&Definition> = definitions.iter().filter(is_meant).collect();
        if meant.is_empty() {
            return Err(no_such(pattern, &definitions));
        }
        for definition in meant {
            if !found.contains(definition) {
                found.push(definition.clone());
            }
        }
    }
    Ok(found)
}

/// That there is no function of a name, and what names are near it.
fn no_such(pattern: &str, definitions: &[Definition]) -> String {
    let part = pattern.trim_matches(['*', '?']);
    let near = definitions.iter().filter(|it| it.name.contains(part));
    let near: Vec<&str> = near.map(|it| it.name.as_str()).take(8).collect();
    let hint = match near.is_empty() {
        true => String::new(),
        false => format!(": there are {}", near.join(", ")),
    };
    format!("the program has no function {pattern}{hint}")
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

/// Makes the contract of a function.
fn finish(
    request: &Request,
    function: Definition,
    inputs: &[Input],
    (calls, derived): (Calls, Derived),
    sites: &Sites,
) -> Hoisted {
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
            "hoist {}: {} on {}{}",
            request.command,
            match calls.skipped {
                0 => plural(calls.calls, "call"),
                skipped => format!(
                    "{} of {}",
                    calls.calls - skipped,
                    plural(calls.calls, "call")
                ),
            },
            plural(calls.paths, "path"),
            match calls.is_cut_off {
                true => " of tests that were ended",
                false => "",
            }
        ),
        subject: Of {
            file: file.map_or(String::new(), |file| shown(file, request.working_directory)),
            signature: function.signature.clone(),
            body: standing::body(&function, &read).unwrap_or_default(),
        },
        requires: derived.requires,
        shown: derived.shown,
    };
    let place = |(site, count): (nearmiss_abi::site::SiteId, u64)| {
        let place = sites
            .get(site)
            .map(|(unit, site)| (unit.file_of(site).to_string(), site.line));
        let (file, line) = place.unwrap_or_default();
        (format!("{file}:{line}"), count)
    };
    let name = |number: u32| inputs[number as usize].place.clone();
    Hoisted {
        function,
        contract,
        calls: calls.calls,
        skipped: calls.skipped,
        is_cut_off: calls.is_cut_off,
        paths: calls.paths,
        checks: calls.checks,
        open: derived.open,
        left_out: derived.left_out,
        contradicted: derived.contradicted,
        refuted: derived.refuted,
        unseen: derived.unseen,
        cut: calls.cut.into_iter().map(name).collect(),
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
