//! The user's own run, recorded: what it does and shows is what it would do without nearmiss.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, IsTerminal, Read, Seek, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Instant;

use nearmiss_abi::capture::{CAPTURE, DEFAULT_FILE, DEFAULT_FILES};
use nearmiss_abi::chance::CHANCE;
use nearmiss_abi::channel::ChannelKind;
use nearmiss_abi::environment;
use nearmiss_campaign::store::{Campaign, RunDirectory};
use nearmiss_campaign::{CampaignError, Capsule, Origin, TestCase};
use nearmiss_capture::Meeting;
use nearmiss_sandbox::{Ended, Stdin};
use nearmiss_suite::SuiteError;

use crate::error::EngineError;
use crate::program::is_plain;
use crate::{Config, Output, Target};

/// Runs the program once and keeps all that is needed to run it again.
pub fn record(
    target: Target,
    config: &Config,
    campaign: &Campaign,
    run: &RunDirectory,
) -> Result<TestCase, EngineError> {
    let copy = run.join("stdin");
    let stdin = spool(target.stdin, &copy, config)?;
    let mut channels = config.channels;
    if stdin.is_terminal() {
        // What a person types cannot be fed again.
        channels = channels.without(ChannelKind::Stdin);
    }
    let mut capsule = Capsule {
        program: target.program,
        stands_for: None,
        stand_ins: Vec::new(),
        arguments: target.arguments,
        environment: without_our_variables(target.environment).into(),
        directory: target.directory,
        terminal: stdin.is_terminal(),
        stdin: match &stdin {
            Spooled::Terminal(_) => Stdin::Null,
            Spooled::File(_) => Stdin::File(copy.clone()),
            Spooled::Stream => Stdin::Pipe(copy.clone()),
        },
        umask: None,
        chance: Default::default(),
        variables: String::new(),
        world: Vec::new(),
        files: Vec::new(),
        named: None,
        channels,
        options: config.options.clone(),
    };
    let is_plain = is_plain(&capsule.program, &capsule.environment, &capsule.directory);
    let meeting = match is_plain {
        true => Some(
            Meeting::open(&run.captures(), DEFAULT_FILE, DEFAULT_FILES)
                .map_err(SuiteError::MeetingPlace)?,
        ),
        false => None,
    };
    let start = Instant::now();
    let variables = match is_plain {
        true => Vec::new(),
        false => recording(&capsule, run),
    };
    let child = start_child(&capsule, stdin, config.output, run, variables)
        .map_err(|error| EngineError::Start(capsule.program.clone(), error))?;
    let process = child.id();
    let trace = run.traces().join(format!("{process}.trace"));
    let status = finish(child, &capsule)
        .map_err(|error| EngineError::Start(capsule.program.clone(), error))?;
    let seconds = start.elapsed().as_secs_f64();
    drop(meeting);
    if !is_plain && !trace.exists() {
        return Err(EngineError::NoTrace(capsule.program));
    }
    nearmiss_suite::keep_world(&run.captures(), process, &run.join("files"), &mut capsule)
        .and_then(|()| fs::remove_dir_all(run.captures()))
        .map_err(|error| campaign.failed(error))?;
    capsule
        .write(&run.join(""))
        .map_err(|error| campaign.failed(error))?;
    Ok(TestCase {
        id: String::new(),
        capsule,
        executions: 1,
        ended: Ended::from(status).to_string(),
        seconds,
        trace: (!is_plain).then_some(trace),
        calls: Vec::new(),
        reads_files: false,
    })
}

/// The program's standard input, copied where that can be done.
enum Spooled {
    /// It goes through.
    Terminal(File),
    /// The program gets the very file.
    File(File),
    /// The program gets a pipe with the same content.
    Stream,
}

impl Spooled {
    fn is_terminal(&self) -> bool {
        matches!(self, Spooled::Terminal(_))
    }
}

fn spool(mut stdin: File, copy: &PathBuf, config: &Config) -> Result<Spooled, EngineError> {
    if stdin.is_terminal() {
        return Ok(Spooled::Terminal(stdin));
    }
    let metadata = stdin.metadata().map_err(EngineError::Stdin)?;
    let failed = |error| CampaignError::Directory(copy.clone(), error);
    if metadata.is_file() {
        let content = rest_of(&mut stdin).map_err(EngineError::Stdin)?;
        fs::write(copy, content).map_err(failed)?;
        return Ok(Spooled::File(stdin));
    }
    let mut file = File::create(copy).map_err(failed)?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        match stdin.read(&mut buffer) {
            Ok(0) => return Ok(Spooled::Stream),
            Ok(count) => file.write_all(&buffer[..count]).map_err(failed)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                if config.is_stopped() {
                    return Err(EngineError::Stopped);
                }
            }
            Err(error) => return Err(EngineError::Stdin(error)),
        }
    }
}

/// What is left of a file, without moving the position that the program will start from.
fn rest_of(file: &mut File) -> io::Result<Vec<u8>> {
    let start = file.stream_position()?;
    let size = file.metadata()?.len().saturating_sub(start);
    let mut content = vec![0; size as usize];
    let mut filled = 0;
    while filled < content.len() {
        match file.read_at(&mut content[filled..], start + filled as u64)? {
            0 => break,
            count => filled += count,
        }
    }
    content.truncate(filled);
    Ok(content)
}

/// An environment without what steers nearmiss.
pub(crate) fn without_our_variables(
    variables: Vec<(std::ffi::OsString, std::ffi::OsString)>,
) -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    let ours = [
        environment::RECORD,
        environment::OPTIONS,
        environment::REPLAY,
        CAPTURE,
        CHANCE,
    ];
    let keep = |name: &std::ffi::OsString| !ours.iter().any(|known| name == *known);
    variables
        .into_iter()
        .filter(|(name, _)| keep(name))
        .collect()
}

/// The variables by which an instrumented program records, and is captured: it may change or remove what it reads.
fn recording(capsule: &Capsule, run: &RunDirectory) -> Vec<(&'static str, OsString)> {
    let mut variables = capsule.recording(&run.traces(), Origin::Recorded);
    variables.push((CAPTURE, run.captures().into()));
    variables
}

fn start_child(
    capsule: &Capsule,
    stdin: Spooled,
    output: Output,
    run: &RunDirectory,
    variables: Vec<(&'static str, OsString)>,
) -> io::Result<Child> {
    let mut command = Command::new(&capsule.program);
    command
        .args(capsule.arguments.iter().skip(1))
        .env_clear()
        .envs(
            capsule
                .environment
                .iter()
                .map(|(name, value)| (name, value)),
        )
        .envs(variables)
        .current_dir(&capsule.directory);
    if let Some(name) = capsule.arguments.first() {
        command.arg0(name);
    }
    command.stdin(match stdin {
        Spooled::Terminal(file) | Spooled::File(file) => Stdio::from(file),
        Spooled::Stream => Stdio::piped(),
    });
    if output == Output::Kept {
        command.stdout(File::create(run.join("stdout"))?);
    }
    nearmiss_sandbox::end_with_us(&mut command);
    command.spawn()
}

fn finish(mut child: Child, capsule: &Capsule) -> io::Result<ExitStatus> {
    if let (Some(mut pipe), Stdin::Pipe(path)) = (child.stdin.take(), &capsule.stdin) {
        let mut content = File::open(path)?;
        // A program need not read all of its input: what it leaves is not an error.
        std::thread::spawn(move || io::copy(&mut content, &mut pipe));
    }
    child.wait()
}
