//! What an exploration takes as it is: variables that are no inputs, and what the system answers.

use nearmiss_flow::Outside;
use nearmiss_harness::{HARNESS_PREFIX, some_of};

use crate::Config;
use crate::build::{ALLOCATING, ANSWERING, Programs};

/// A bound for each kind of thing that the function depends on and that is no input. None if the program
/// cannot be read: then nothing was explored either.
pub fn bounds(config: &Config, programs: &Programs) -> Vec<String> {
    let flows = nearmiss_twin::flows_of(&programs.recording, &[]).unwrap_or_default();
    let Outside {
        mut variables,
        mut functions,
    } = Outside::of(&flows, &programs.function);
    let inputs = config.request.iter().flat_map(|request| &request.globals);
    for input in inputs {
        variables.remove(input);
    }
    if config.build.refuses {
        functions.retain(|name| !ALLOCATING.contains(&name.as_str()));
    }
    if config.build.answers {
        functions.retain(|name| !ANSWERING.contains(&name.as_str()));
    }
    // A call of what no file defines ends its run, and is told of so.
    functions.retain(|name| !programs.undefined.functions.contains(name));
    variables.retain(|name| !name.starts_with(HARNESS_PREFIX));
    let variables = named(variables.into_iter().collect(), |names, many| {
        let keep = if many {
            "keep the values they start"
        } else {
            "keeps the value it starts"
        };
        format!("{names} {keep} with: `--global NAME` makes a variable an input")
    });
    let functions = named(functions.into_iter().collect(), |names, many| {
        let answer = if many {
            "answer as they do"
        } else {
            "answers as it does"
        };
        format!("{names} {answer} here: what else the system may answer was not tried")
    });
    variables.into_iter().chain(functions).collect()
}

/// A sentence about names, if there are any.
fn named(names: Vec<String>, sentence: impl Fn(&str, bool) -> String) -> Option<String> {
    (!names.is_empty()).then(|| sentence(&some_of(&names), names.len() > 1))
}
