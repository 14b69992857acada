//! Running one tool.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::response;
use crate::signals;

/// Above this a command line goes into a response file: the kernel has limits.
const LONG_COMMAND: usize = 100_000;

/// Why a tool did not do its work.
#[derive(Debug)]
pub enum Failure {
    /// It ended with this status.
    Status(i32),
    /// It was ended by this signal.
    Signal(i32),
    /// It took too long.
    Timeout,
    /// There is no such tool.
    Missing(PathBuf),
    /// Something else in our own work.
    Trouble(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Status(status) => write!(f, "it ended with status {status}"),
            Failure::Signal(signal) => write!(f, "it was ended by signal {signal}"),
            Failure::Timeout => write!(f, "it took too long"),
            Failure::Missing(tool) => write!(f, "{}", missing(tool)),
            Failure::Trouble(text) => write!(f, "{text}"),
        }
    }
}

fn missing(tool: &Path) -> String {
    let name = tool.file_name().unwrap_or_default().to_string_lossy();
    let advice = match name.starts_with("clang") {
        true => "install it with: apt-get install clang-19",
        false if name.starts_with("nearmiss") => "the installation of nearmiss is not complete",
        false => "NEARMISS_CC names the compiler",
    };
    format!("cannot find {}: {advice}", tool.display())
}

/// A tool and its arguments.
pub struct Tool<'a> {
    program: &'a Path,
    arguments: Vec<String>,
    directory: Option<&'a Path>,
    variables: &'a [(&'static str, OsString)],
    english: bool,
}

impl<'a> Tool<'a> {
    /// `program` with `arguments`.
    pub fn new(program: &'a Path, arguments: Vec<String>) -> Tool<'a> {
        Tool {
            program,
            arguments,
            directory: None,
            variables: &[],
            english: false,
        }
    }

    /// Runs in another directory than ours.
    pub fn in_directory(mut self, directory: &'a Path) -> Self {
        self.directory = Some(directory);
        self
    }

    /// Sets variables of its environment.
    pub fn with_variables(mut self, variables: &'a [(&'static str, OsString)]) -> Self {
        self.variables = variables;
        self
    }

    /// Messages are to be read by us: the linker's come in the user's language otherwise.
    pub fn in_english(mut self, wanted: bool) -> Self {
        self.english = wanted;
        self
    }

    /// Passes a very long list of arguments through a file in this directory.
    pub fn shortened(mut self, directory: &Path) -> Result<Self, Failure> {
        let size: usize = self.arguments.iter().map(|word| word.len() + 1).sum();
        if size > LONG_COMMAND {
            let file = directory.join("arguments");
            let text = response::join(self.arguments.iter().map(String::as_str));
            std::fs::write(&file, text).map_err(|error| trouble(&file, &error))?;
            self.arguments = vec![format!("@{}", file.display())];
        }
        Ok(self)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.program);
        command.args(&self.arguments);
        if let Some(directory) = self.directory {
            command.current_dir(directory);
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        if self.english {
            command.env("LC_ALL", "C");
        }
        command
    }

    fn spawn(&self, command: &mut Command) -> Result<Child, Failure> {
        let child = command
            .spawn()
            .map_err(|error| spawn_failure(self.program, &error))?;
        signals::set_child(child.id());
        Ok(child)
    }

    /// Runs it with our own standard streams.
    pub fn run(&self) -> Result<(), Failure> {
        let mut child = self.spawn(&mut self.command())?;
        finished(child.wait())
    }

    /// Runs it without standard streams.
    pub fn run_silent(&self) -> Result<(), Failure> {
        let mut command = self.command();
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut child = self.spawn(&mut command)?;
        finished(child.wait())
    }

    /// Runs it, silent unless `loud`, for at most `limit`.
    pub fn run_limited(&self, limit: Duration, loud: bool) -> Result<(), Failure> {
        let mut command = self.command();
        command.stdin(Stdio::null()).stdout(Stdio::null());
        if !loud {
            command.stderr(Stdio::null());
        }
        let mut child = self.spawn(&mut command)?;
        let start = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            match child.try_wait() {
                Ok(None) => {}
                Ok(Some(status)) => return finished(Ok(status)),
                Err(error) => return finished(Err(error)),
            }
            if start.elapsed() > limit {
                // It is our own child and not waited for yet: the number is still its own.
                let _ = child.kill().and_then(|()| child.wait());
                signals::set_child(0);
                return Err(Failure::Timeout);
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(16));
        }
    }

    /// Runs it and gives back what it wrote to standard error, which goes to `errors` too.
    pub fn run_heard(
        &self,
        errors: &mut dyn Write,
    ) -> Result<(Result<(), Failure>, Vec<u8>), Failure> {
        let mut child = self.spawn(self.command().stderr(Stdio::piped()))?;
        let mut heard = Vec::new();
        let mut buffer = [0; 4096];
        let mut stream = child.stderr.take().expect("it is piped");
        while let Ok(size @ 1..) = stream.read(&mut buffer) {
            // Whoever does not listen to our errors has lost them, nothing else.
            let _ = errors.write_all(&buffer[..size]);
            heard.extend(&buffer[..size]);
        }
        Ok((finished(child.wait()), heard))
    }
}

/// Becomes the compiler: nothing is left for us to do.
pub fn replace_by(
    compiler: &[String],
    arguments: &[OsString],
    variables: &[(&'static str, OsString)],
) -> Failure {
    let (program, words) = compiler.split_first().expect("a compiler is named");
    let mut command = Command::new(program);
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    spawn_failure(
        Path::new(program),
        &command.args(words).args(arguments).exec(),
    )
}

/// Writes one line that starts with our name.
pub fn say(messages: &mut dyn Write, text: &str) {
    // There is nobody else to tell that nobody listens.
    let _ = writeln!(messages, "nearmiss: {text}");
}

fn spawn_failure(program: &Path, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::NotFound => Failure::Missing(program.to_path_buf()),
        _ => trouble(program, error),
    }
}

/// Trouble with this file.
pub fn trouble(file: &Path, error: &io::Error) -> Failure {
    Failure::Trouble(format!("{}: {error}", file.display()))
}

fn finished(status: io::Result<ExitStatus>) -> Result<(), Failure> {
    signals::set_child(0);
    if let Some(signal) = signals::caught() {
        return Err(Failure::Signal(signal));
    }
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(match status.signal() {
            Some(signal) => Failure::Signal(signal),
            None => Failure::Status(status.code().unwrap_or(1)),
        }),
        Err(error) => Err(Failure::Trouble(error.to_string())),
    }
}
