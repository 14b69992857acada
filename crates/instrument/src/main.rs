//! `nearmiss-instrument`: LLVM bitcode in, instrumented bitcode and site map out.
//!
//! A process of its own: LLVM ends its process on a fatal error, and Debian's libLLVM loads an
//! old Z3 that must not meet our solver. `nearmiss cc` calls it; the only crate that knows LLVM.

mod aggregate;
mod assembly;
mod checks;
mod context;
mod elision;
mod export;
mod flow;
mod function;
mod globals;
mod guard;
mod huge;
mod llvm;
mod loops;
mod may;
mod models;
mod outline;
mod pointers;
mod regions;
mod reports;
mod rewrite;
mod sensitive;
mod sitemap;
mod stack;
mod transfer;
mod twin;
mod ubsan;
mod unit;
mod variables;
mod zones;

use std::process::ExitCode;

use regions::Grain;
use unit::Request;

const USAGE: &str = "usage: nearmiss-instrument --input BC --output BC --sites FILE --twin FILE \
                     --source NAME --directory DIR [--keep-debug] [--optimised] [--keep-allocations] \
                     [--choices-are-branches] [--fine] [--rewrite FILE] [--huge FILE] \
                     [--command COUNT WORD...] [--options OPTION...]\n\
                     or: nearmiss-instrument --input BC --program FILE";

fn main() -> ExitCode {
    let result = parse(std::env::args().skip(1)).and_then(|request| match &request.program {
        Some(program) => export::write(&request.input, program),
        None => unit::instrument(&request),
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("nearmiss-instrument: {message}");
            ExitCode::from(2)
        }
    }
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Request, String> {
    let mut request = Request::default();
    while let Some(flag) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| USAGE.to_string());
        match flag.as_str() {
            "--input" => request.input = value()?.into(),
            "--output" => request.output = value()?.into(),
            "--sites" => request.sites = value()?.into(),
            "--twin" => request.twin = value()?.into(),
            "--source" => request.source = value()?,
            "--directory" => request.directory = value()?,
            "--huge" => request.huge = Some(value()?.into()),
            "--program" => request.program = Some(value()?.into()),
            "--rewrite" => request.rewrite = Some(value()?.into()),
            "--choices-are-branches" => request.choices_are_branches = true,
            "--optimised" => request.optimised = true,
            "--keep-allocations" => request.keep_allocations = true,
            "--keep-debug" => request.keep_debug = true,
            "--fine" => request.grain = Grain::Fine,
            "--command" => {
                let count: usize = value()?.parse().map_err(|_| USAGE.to_string())?;
                request.command = arguments.by_ref().take(count).collect();
            }
            "--options" => {
                request.options = arguments.collect();
                break;
            }
            _ => return Err(USAGE.to_string()),
        }
    }
    if !request.optimised && request.grain == Grain::Coarse {
        request.grain = Grain::Short;
    }
    Ok(request)
}
