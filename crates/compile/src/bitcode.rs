//! Compiling a unit once more from the bitcode that its object keeps, rewritten: for variants of a program.

use std::path::Path;

use nearmiss_sites::rewrite::Rewrite;
use nearmiss_sites::{Twin, Unit, frame};

use crate::compile::{CHEAP_CODE, HUGE_CODE};
use crate::config::Config;
use crate::temporary_directory;
use nearmiss_cc::process::{Failure, Tool, trouble};

/// Makes the instrumented object of a unit, rewritten before it is instrumented. `unit` says where it comes
/// from, `kept` is what the object of the program keeps of it.
pub fn compile_rewritten(
    unit: &Unit,
    kept: &Twin,
    rewrite: &Rewrite,
    object: &Path,
    config: &Config,
) -> Result<(), String> {
    compile(unit, kept, rewrite, object, config).map_err(|failure| failure.to_string())
}

fn compile(
    unit: &Unit,
    kept: &Twin,
    rewrite: &Rewrite,
    object: &Path,
    config: &Config,
) -> Result<(), Failure> {
    let directory = temporary_directory()?;
    let file = |name: &str| directory.path().join(name);
    let write = |name: &str, bytes: &[u8]| {
        let path = file(name);
        std::fs::write(&path, bytes).map_err(|error| trouble(&path, &error))
    };
    write("unit.bc", &kept.bitcode)?;
    write("rewrite", &frame::write(rewrite))?;
    let text = |name: &str| file(name).to_string_lossy().into_owned();
    let named = [
        ("--input", text("unit.bc")),
        ("--output", text("instrumented.bc")),
        ("--sites", text("sites")),
        ("--twin", text("twin")),
        ("--huge", text("huge")),
        ("--rewrite", text("rewrite")),
        ("--source", unit.source.clone()),
        ("--directory", unit.directory.clone()),
    ];
    let named = named
        .into_iter()
        .flat_map(|(name, value)| [name.to_string(), value]);
    let mut flags = vec!["--keep-debug", "--optimised"];
    if kept.keeps_allocations {
        flags.push("--keep-allocations");
    }
    if config.choices_are_branches {
        flags.push("--choices-are-branches");
    }
    if config.fine {
        flags.push("--fine");
    }
    flags.push("--options");
    let flags = flags.into_iter().map(str::to_string);
    let arguments = named.chain(flags).chain(kept.options.iter().cloned());
    let run = |program: &Path, arguments: Vec<String>| {
        let tool = Tool::new(program, arguments).in_directory(directory.path());
        tool.run_limited(config.instrument_limit, config.verbose)
    };
    run(&config.instrument, arguments.collect())?;
    let mut code = kept.options.clone();
    code.extend(CODE.map(str::to_string));
    code.extend(CHEAP_CODE.map(str::to_string));
    if file("huge").exists() {
        code.extend(HUGE_CODE.map(str::to_string));
    }
    code.extend(["-c".into(), text("instrumented.bc"), "-o".into()]);
    code.push(object.to_string_lossy().into_owned());
    run(&config.clang, code)
}

/// How code is made of it: as quickly as the user's, and for the same machine.
const CODE: [&str; 6] = [
    "-O1",
    "-Qunused-arguments",
    "-Wno-everything",
    "-fno-crash-diagnostics",
    "-Xclang",
    "-disable-llvm-passes",
];
