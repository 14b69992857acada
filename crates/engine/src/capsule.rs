//! A program with its arguments, environment, directory and inputs: what can be run again.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nearmiss_abi::environment;
use nearmiss_sandbox::{Limits, Replacement, Spec, Stdin};
use serde::{Deserialize, Serialize};

use crate::campaign::write_atomically;

/// What a run is made of.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Capsule {
    /// The program's file.
    pub program: PathBuf,
    /// Its arguments, with its name first.
    pub arguments: Vec<OsString>,
    /// Its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Where it runs.
    pub directory: PathBuf,
    /// Its standard input.
    pub stdin: Stdin,
    /// Whether standard input was a terminal, and thus not recorded.
    pub terminal: bool,
    /// Files with another content than on the disk.
    pub files: Vec<Replacement>,
    /// The contents of named channels: see [`environment::REPLAY`].
    pub named: Option<PathBuf>,
    /// Letters of the channels that are inputs.
    pub channels: String,
}

impl Capsule {
    /// Keeps it in a file that nobody else can read: the environment may have secrets.
    pub fn write(&self, directory: &Path) -> io::Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        let path = directory.join("capsule.json");
        write_atomically(&path, text.as_bytes())?;
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600))
    }

    /// Reads it from its file.
    pub fn read(directory: &Path) -> io::Result<Capsule> {
        let text = fs::read_to_string(directory.join("capsule.json"))?;
        Ok(serde_json::from_str(&text)?)
    }

    /// How it is run in a sandbox, by its program or by the program's twin.
    pub fn spec(&self, program: &Path, variables: &[(&str, OsString)], limits: &Limits) -> Spec {
        let mut environment = self.environment.clone();
        if let Some(named) = &self.named {
            environment.push((environment::REPLAY.into(), named.clone().into()));
        }
        for (name, value) in variables {
            environment.retain(|(known, _)| known != name);
            environment.push((name.into(), value.clone()));
        }
        Spec {
            program: program.to_path_buf(),
            arguments: self.arguments.clone(),
            environment,
            directory: self.directory.clone(),
            stdin: self.stdin.clone(),
            files: self.files.clone(),
            writable: Vec::new(),
            limits: limits.clone(),
        }
    }

    /// The variables that make an instrumented program record into a directory.
    pub fn recording(&self, directory: &Path) -> Vec<(&'static str, OsString)> {
        let options = format!("{}={}", environment::OPTION_CHANNELS, self.channels);
        vec![
            (environment::RECORD, directory.into()),
            (environment::OPTIONS, options.into()),
        ]
    }

    /// What was fed to it, if anything is known of that.
    pub fn stdin_content(&self) -> io::Result<Option<Vec<u8>>> {
        match &self.stdin {
            Stdin::Null => Ok(None),
            Stdin::File(path) | Stdin::Pipe(path) => fs::read(path).map(Some),
        }
    }
}
