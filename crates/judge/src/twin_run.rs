//! Runs a sanitizer twin so that its sanitizers report everything they find.

use std::ffi::OsString;
use std::path::Path;

use nearmiss_abi::environment::DEFAULT_ALLOCATION;
use nearmiss_sandbox::{Ended, Outcome, Sandbox, SandboxError, Spec};
use nearmiss_twin::TwinProgram;

use crate::complaint::{self, Complaint};
use crate::symbolize::symbolize;

/// Runs a twin in the place of its program: `spec` says how the program is run.
pub fn run_twin(
    sandbox: &Sandbox,
    twin: &TwinProgram,
    spec: Spec,
) -> Result<Outcome, SandboxError> {
    let spec = twin_spec(twin, spec);
    let outcome = sandbox.run(&spec)?;
    Ok(symbolized(outcome, twin, &spec))
}

/// What a twin left that was run so, with the places of its reports.
pub fn symbolized(mut outcome: Outcome, twin: &TwinProgram, spec: &Spec) -> Outcome {
    outcome.stderr = symbolize(outcome.stderr, twin, &spec.stand_ins);
    outcome
}

/// How a twin is run in the place of its program.
pub fn twin_spec(twin: &TwinProgram, mut spec: Spec) -> Spec {
    let mut variables = sanitizer_variables();
    if let Some(directory) = &twin.library_path {
        variables.push(("LD_LIBRARY_PATH", library_path(directory, &spec)));
    }
    for (name, value) in variables {
        spec.environment.retain(|(known, _)| known != name);
        spec.environment.push((name.into(), value));
    }
    let mut stand_ins = spec.stand_ins.iter_mut();
    match stand_ins.find(|stand_in| stand_in.path == spec.program) {
        Some(stand_in) => stand_in.file = twin.program.clone(),
        None => spec.program = twin.program.clone(),
    }
    if let Some(directory) = &twin.library_path {
        for stand_in in &mut spec.stand_ins {
            let library = directory.join(stand_in.file.file_name().unwrap_or_default());
            if library.exists() {
                stand_in.file = library;
            }
        }
    }
    spec
}

/// The environment in which sanitizers report everything and go on.
pub fn sanitizer_variables() -> Vec<(&'static str, OsString)> {
    vec![
        ("ASAN_OPTIONS", address_options().into()),
        (
            "UBSAN_OPTIONS",
            "print_stacktrace=1:halt_on_error=0:color=never".into(),
        ),
        ("MSAN_OPTIONS", memory_options().into()),
    ]
}

/// What a twin that ran somewhere else complains about.
pub fn complaints_of(stderr: Vec<u8>, ended: Ended, twin: &TwinProgram) -> Vec<Complaint> {
    complaint::complaints(&symbolize(stderr, twin, &[]), ended)
}

/// Bytes around allocations that AddressSanitizer watches, at least: what leaves an object by
/// more than that may end up in another.
const RED_ZONE: u32 = 128;

/// Every signal that a program dies of is told with its place. Allocations beyond the limit fail in the twin as they do in the instrumented program. Source
/// lines are looked up here, by [`symbolize`]. Two variables of one name are no failure on an input,
/// and looking for them takes a tenth of the time of a short run.
fn address_options() -> String {
    let most = DEFAULT_ALLOCATION >> 20;
    format!(
        "detect_leaks=0:detect_odr_violation=0:abort_on_error=0:handle_abort=1:handle_sigill=1:handle_sigtrap=1:dump_registers=0:allocator_may_return_null=1:\
         max_allocation_size_mb={most}:redzone={RED_ZONE}:color=never:symbolize=0"
    )
}

/// As far as it can be, the memory twin does what the program does; how it dies is said by the other
/// one: what was freed is that one's affair, too. `memcmp` depends on the bytes up to the first that differ.
fn memory_options() -> String {
    let most = DEFAULT_ALLOCATION >> 20;
    format!(
        "allocator_may_return_null=1:max_allocation_size_mb={most}:strict_memcmp=0:poison_in_free=0:handle_segv=0:\
         handle_sigbus=0:handle_sigfpe=0:color=never:symbolize=0"
    )
}

/// The twin's libraries before those that the program's environment names.
fn library_path(directory: &Path, spec: &Spec) -> OsString {
    let mut path: OsString = directory.into();
    let mut variables = spec.environment.iter();
    if let Some((_, value)) = variables.find(|(name, _)| name == "LD_LIBRARY_PATH") {
        path.push(":");
        path.push(value);
    }
    path
}
