//! The unit tests are run, and what the calls of one function did is read.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use nearmiss_abi::environment::{HOIST, OPTION_CHANNELS, OPTIONS, RECORD};
use nearmiss_sites::Sites;
use nearmiss_trace::RawTrace;

use crate::calls::Calls;
use crate::clock::Clock;
use crate::inputs::Input;
use crate::session::Request;

/// A test framework that has a process for each test is asked not to: what a child does is not recorded.
pub const ONE_PROCESS: [(&str, &str); 1] = [("CK_FORK", "no")];

/// How often it is asked whether the tests have ended: first, and at last.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(20));

/// Runs the tests of a request with its program's variant in which calls of the function with this number are recorded.
/// Tests that are not done when the time is up are ended: what they did until then counts. Gives whether that was so.
pub fn run(
    request: &Request,
    (program, number): (&Path, usize),
    clock: Clock,
) -> Result<(Vec<PathBuf>, bool), String> {
    let traces = request.subject.directory.join("traces");
    let named = |error: std::io::Error| format!("{}: {error}", traces.display());
    let _ = fs::remove_dir_all(&traces);
    fs::create_dir_all(&traces).map_err(named)?;
    let traces = traces.canonicalize().map_err(named)?;
    let started = Command::new(program)
        .args(request.arguments)
        .current_dir(request.working_directory)
        .env(RECORD, &traces)
        .env(OPTIONS, format!("{OPTION_CHANNELS}=n"))
        .env(HOIST, number.to_string())
        .envs(ONE_PROCESS)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let child = started.map_err(|error| format!("{}: {error}", program.display()))?;
    let is_ended =
        ended(child, clock).map_err(|error| format!("{}: {error}", program.display()))?;
    let mut files: Vec<PathBuf> = fs::read_dir(&traces)
        .map_err(named)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "trace"))
        .collect();
    files.sort();
    Ok((files, is_ended))
}

/// Waits until a process is done, or ends it when the time is up: whether it had to be.
fn ended(mut child: Child, clock: Clock) -> std::io::Result<bool> {
    let (mut pause, longest) = PAUSES;
    loop {
        if child.try_wait()?.is_some() {
            return Ok(false);
        }
        if clock.is_over() {
            child.kill()?;
            child.wait()?;
            return Ok(true);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(longest);
    }
}

/// Takes in what traces say, for as long as there is time.
pub fn read(files: &[PathBuf], sites: &Sites, inputs: &[Input], calls: &mut Calls, clock: Clock) {
    for file in files {
        if let Ok(raw) = RawTrace::open(file) {
            calls.add(raw, sites, inputs, clock);
        }
    }
}
