//! `nearmiss hoist`: contracts from unit tests.

use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;

use nearmiss_contracts::Contract;
use nearmiss_hoist::clock::Clock;
use nearmiss_hoist::plan::MOST_ELEMENTS;
use nearmiss_hoist::program::Subject;
use nearmiss_hoist::session::{self, Hoisted, Request, Session};

use super::contracts;
use crate::arguments::HoistArguments;
use crate::{FOUND, NOTHING, environment, output, signals};

/// Derives contracts, prints and writes them.
pub fn hoist(arguments: &HoistArguments) -> Result<u8, String> {
    signals::install();
    let name = arguments.command.first().ok_or("no program given")?;
    let program = environment::find_program(name).map_err(|error| error.to_string())?;
    let directory = environment::directory()?;
    let compiler = environment::compiler_config()?;
    let root = &arguments.campaign.dir;
    let variables = environment::variables();
    let runs_in = (variables.as_slice(), directory.as_path());
    let (program, libraries) = nearmiss_engine::recorder_of(&program, runs_in, &compiler, root)?;
    let words: Vec<String> = (arguments.command.iter())
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let place = arguments.campaign.dir.join("hoist");
    let sandbox = environment::sandbox(arguments.no_sandbox)?;
    let in_force = match arguments.output.is_file() {
        true => contracts::read(&arguments.output)?,
        false => Vec::new(),
    };
    let request = Request {
        subject: Subject {
            program: &program,
            libraries: &libraries,
            compiler: &compiler,
            directory: &place,
        },
        arguments: &arguments.command[1..],
        command: words.join(" "),
        working_directory: &directory,
        functions: &arguments.function,
        contracts: &in_force,
        clock: Clock::new(arguments.time, &signals::STOP),
        sandbox: &sandbox,
        environment: &variables,
        runs: arguments.runs,
    };
    let session = session::hoist(&request)?;
    let text: String = session.functions.iter().map(told).collect();
    output::result(text.as_bytes())?;
    tell_of_gaps(&session);
    let contracts: Vec<Contract> = (session.functions.into_iter().map(|it| it.contract))
        .filter(|contract| !contract.requires.is_empty())
        .collect();
    if contracts.is_empty() {
        return Ok(FOUND);
    }
    keep(&arguments.output, &contracts)?;
    Ok(NOTHING)
}

/// What was not done.
fn tell_of_gaps(session: &Session) {
    let mut words = String::new();
    for (function, why) in &session.unused {
        words += &format!("The contract of {function} was not used: {why}.\n");
    }
    if let Some(why) = &session.untried {
        words += &format!("Requirements were not tried: {why}.\n");
    }
    let why = match signals::STOP.load(Ordering::Relaxed) {
        true => "it was interrupted",
        false => "no time was left (--time)",
    };
    if !session.skipped.is_empty() {
        let names = session.skipped.join(", ");
        words += &format!("Not looked at, {why}: {names}.\n");
    }
    if session.is_unsettled {
        words += &format!(
            "What deeper functions require may be missing in contracts of their callers: {why}.\n"
        );
    }
    output::message(words.as_bytes());
}

fn counted(count: u64, word: &str) -> String {
    match count {
        1 => format!("1 {word}"),
        _ => format!("{count} {word}s"),
    }
}

/// What was revealed, for a person.
fn told(hoisted: &Hoisted) -> String {
    let Hoisted {
        function, contract, ..
    } = hoisted;
    let mut text = format!("{} in {}\n", function.signature, contract.subject.file);
    text += &format!(
        "  {} on {}, {}\n",
        counted(hoisted.calls, "call"),
        counted(hoisted.paths, "path"),
        counted(hoisted.checks, "check")
    );
    for (number, formula) in contract.requires.iter().enumerate() {
        text += &format!("  requires {formula}\n");
        if let Some(shown) = contract.shown.get(&number) {
            text += &format!("    {shown}\n");
        } else if let Some(why) = hoisted.open.get(&number) {
            text += &format!("    not shown: {why}\n");
        }
    }
    if contract.requires.is_empty() {
        text += "  nothing was revealed\n";
    }
    text + &left_out(hoisted)
}

/// What the contract does not say.
fn left_out(hoisted: &Hoisted) -> String {
    let mut text = String::new();
    for (count, why) in [
        (hoisted.left_out, "no short form"),
        (hoisted.contradicted, "calls of the tests do without"),
        (hoisted.refuted, "calls that violate them do not fail"),
        (hoisted.unseen, "no call was made that shows them"),
    ] {
        if count > 0 {
            text += &format!("  {} left out: {why}\n", counted(count, "requirement"));
        }
    }
    if hoisted.skipped > 0 {
        let calls = counted(hoisted.skipped, "call");
        text += &format!("  {calls} not looked at, or not to the end: no time was left\n");
    }
    if hoisted.is_cut_off {
        text += "  the tests were ended before they were done: no time was left\n";
    }
    for (place, count) in &hoisted.unsaid {
        text += &format!("  {} not said: see {place}\n", counted(*count, "check"));
    }
    for place in &hoisted.cut {
        text += &format!("  of {place} the first {MOST_ELEMENTS} elements are inputs\n");
    }
    text
}

/// Puts contracts into a file, in the place of those that were hoisted before.
fn keep(path: &Path, contracts: &[Contract]) -> Result<(), String> {
    let named = |why: String| format!("{}: {why}", path.display());
    let old = match path.exists() {
        true => fs::read_to_string(path).map_err(|error| named(error.to_string()))?,
        false => String::new(),
    };
    let new = nearmiss_contracts::merge(&old, contracts).map_err(named)?;
    let unfinished = path.with_extension("contracts.new");
    fs::write(&unfinished, new).map_err(|error| named(error.to_string()))?;
    fs::rename(&unfinished, path).map_err(|error| named(error.to_string()))?;
    output::message(format!("Contracts are in {}.\n", path.display()).as_bytes());
    Ok(())
}
