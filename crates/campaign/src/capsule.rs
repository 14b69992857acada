//! A program with its arguments, environment, directory and inputs: what can be run again.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nearmiss_abi::chance::CHANCE;
use nearmiss_abi::channel::{ChannelKind, ChannelSet};
use nearmiss_abi::environment as names;
use nearmiss_sandbox::{Limits, Replacement, Spec, StandIn, Stdin, Thing, words};
use serde::{Deserialize, Serialize};

use crate::chance::Chance;
use crate::environment::Environment;
use crate::letters;
use crate::store::write_atomically;

/// Where a run finds the data of its calls.
const CALLS_FILE: &str = "/tmp/.nearmiss-calls";

/// What a run is made of.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Capsule {
    /// The program's file.
    #[serde(with = "words::path")]
    pub program: PathBuf,
    /// The user's program, where `program` is made of it and runs in its place.
    #[serde(default, with = "words::optional_path")]
    pub stands_for: Option<PathBuf>,
    /// What runs in the place of the user's libraries and other programs.
    #[serde(default)]
    pub stand_ins: Vec<StandIn>,
    /// Its arguments, with its name first.
    #[serde(with = "words::list")]
    pub arguments: Vec<OsString>,
    /// Its environment.
    pub environment: Environment,
    /// Which variables of its environment were kept, and why.
    #[serde(default)]
    pub variables: String,
    /// Where it runs.
    #[serde(with = "words::path")]
    pub directory: PathBuf,
    /// Its standard input.
    pub stdin: Stdin,
    /// Whether standard input was a terminal, and thus not recorded.
    pub terminal: bool,
    /// Its umask; ours if `None`.
    #[serde(default)]
    pub umask: Option<u32>,
    /// What it got by chance when it ran first, and gets again.
    #[serde(default)]
    pub chance: Chance,
    /// What the program found in the file system, where the disk may have changed since.
    #[serde(default)]
    pub world: Vec<Thing>,
    /// Files with another content than on the disk and in `world`.
    pub files: Vec<Replacement>,
    /// The contents of named channels: see [`names::REPLAY`].
    #[serde(default, with = "words::optional_path")]
    pub named: Option<PathBuf>,
    /// The channels that are inputs.
    #[serde(with = "letters")]
    pub channels: ChannelSet,
    /// How much of a run is recorded.
    #[serde(default)]
    pub options: Options,
}

/// How much of a run is recorded: limits, as [`nearmiss_abi::environment`] has them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Options {
    /// The longest that an input may become; 0: lengths are fixed.
    pub length: u64,
    /// How many elements of an object an access through a symbolic address may be about.
    pub elements: u64,
    /// How many elements all stores of a run may update in that way.
    pub updates: u64,
    /// Symbolic bytes of a channel.
    pub input: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            length: names::DEFAULT_LENGTH,
            elements: names::DEFAULT_ELEMENTS,
            updates: names::DEFAULT_UPDATES,
            input: names::DEFAULT_INPUT,
        }
    }
}

/// Most terms that are recorded, for each event that is.
const TERMS_PER_EVENT: u64 = 8;

/// Whose input a run has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The user's own, when it is run for the first time.
    Recorded,
    /// The user's own, run again in the sandbox: one of many.
    Again,
    /// Nearmiss's: allocations that are too large are not made.
    Invented,
}

impl Origin {
    /// Most events that are recorded, if not as many as usual. A path of millions of events takes
    /// longer to read than all others to decide, and an invented input may make a program run for as
    /// long as it is let.
    fn most_events(self) -> Option<u64> {
        match self {
            Origin::Recorded => None,
            Origin::Again => Some(1 << 19),
            Origin::Invented => Some(1 << 18),
        }
    }
}

impl Capsule {
    /// Keeps it in a file that nobody else can read: the environment may have secrets.
    pub fn write(&self, directory: &Path) -> io::Result<()> {
        let text = serde_json::to_string(self)?;
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
        let mut environment = self.environment.to_vec();
        let mut files = self.files.clone();
        if let Some(named) = &self.named {
            let is_of_calls = self.channels.contains(ChannelKind::Call);
            let place = if is_of_calls {
                // Always the same: a program that is forked finds the input of each run there.
                files.push(Replacement {
                    path: CALLS_FILE.into(),
                    content: named.clone(),
                });
                CALLS_FILE.into()
            } else {
                named.clone().into()
            };
            environment.push((names::REPLAY.into(), place));
        }
        if !self.chance.streams.is_empty() {
            environment.push((CHANCE.into(), self.chance.streams.clone().into()));
        }
        for (name, value) in variables {
            environment.retain(|(known, _)| known != name);
            environment.push((name.into(), value.clone()));
        }
        let mut stand_ins = self.stand_ins.clone();
        if let Some(original) = &self.stands_for {
            stand_ins.push(StandIn {
                path: original.clone(),
                file: program.to_path_buf(),
            });
        }
        Spec {
            program: self.stands_for.as_deref().unwrap_or(program).to_path_buf(),
            stand_ins,
            arguments: self.arguments.clone(),
            environment,
            directory: self.directory.clone(),
            stdin: self.stdin.clone(),
            umask: self.umask,
            process: Some(self.chance.process).filter(|number| *number > 1),
            world: self.world.clone(),
            files,
            writable: Vec::new(),
            limits: limits.clone(),
        }
    }

    /// The user's program.
    pub fn original(&self) -> &Path {
        self.stands_for.as_ref().unwrap_or(&self.program)
    }

    /// Has another program run in the place of the user's.
    pub fn run_by(&mut self, program: PathBuf) {
        let before = std::mem::replace(&mut self.program, program);
        self.stands_for.get_or_insert(before);
    }

    /// How the user's own program is run, with nothing in its place.
    pub fn own_spec(&self, limits: &Limits) -> Spec {
        let own = Capsule {
            program: self.original().to_path_buf(),
            stands_for: None,
            stand_ins: Vec::new(),
            ..self.clone()
        };
        own.spec(&own.program, &[], limits)
    }

    /// The variables that make an instrumented program record into a directory.
    pub fn recording(&self, directory: &Path, origin: Origin) -> Vec<(&'static str, OsString)> {
        vec![
            (names::RECORD, directory.into()),
            (names::OPTIONS, self.option_words(origin).into()),
        ]
    }

    /// How all runs of a program that is forked record: each is told by itself how long its standard
    /// input is.
    pub fn forked_options(&self, origin: Origin) -> OsString {
        self.option_words_of_all(origin).into()
    }

    fn option_words(&self, origin: Origin) -> String {
        let mut words = self.option_words_of_all(origin);
        if let Stdin::Pipe(path) = &self.stdin
            && let Ok(metadata) = fs::metadata(path)
        {
            words.push_str(&format!(",{}={}", names::OPTION_STDIN, metadata.len()));
        }
        words
    }

    fn option_words_of_all(&self, origin: Origin) -> String {
        let Options {
            length,
            elements,
            updates,
            input,
        } = self.options;
        let mut words = format!("{}={}", names::OPTION_CHANNELS, self.channels);
        let mut add = |name: &str, value: u64| words.push_str(&format!(",{name}={value}"));
        add(names::OPTION_LENGTH, length);
        add(names::OPTION_ELEMENTS, elements);
        add(names::OPTION_UPDATES, updates);
        add(names::OPTION_INPUT, input);
        if origin == Origin::Invented {
            add(names::OPTION_ALLOCATION, names::DEFAULT_ALLOCATION);
        }
        if let Some(events) = origin.most_events() {
            add(names::OPTION_EVENTS, events);
            add(names::OPTION_TERMS, events * TERMS_PER_EVENT);
        }
        words
    }

    /// The files that it refers to: what it is fed, and contents of others.
    pub fn own_files(&mut self) -> Vec<&mut PathBuf> {
        let stdin = match &mut self.stdin {
            Stdin::Null => None,
            Stdin::File(path) | Stdin::Pipe(path) => Some(path),
        };
        let files = self.files.iter_mut().map(|file| &mut file.content);
        stdin
            .into_iter()
            .chain(self.named.as_mut())
            .chain(files)
            .collect()
    }

    /// What was fed to it, if anything is known of that.
    pub fn stdin_content(&self) -> io::Result<Option<Vec<u8>>> {
        match &self.stdin {
            Stdin::Null => Ok(None),
            Stdin::File(path) | Stdin::Pipe(path) => fs::read(path).map(Some),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_told_how_to_record() {
        let directory = tempfile::tempdir().unwrap();
        let stdin = directory.path().join("stdin");
        fs::write(&stdin, "12345").unwrap();
        let capsule = Capsule {
            program: "/bin/prog".into(),
            stands_for: None,
            stand_ins: Vec::new(),
            arguments: Vec::new(),
            environment: Environment::default(),
            directory: "/".into(),
            stdin: Stdin::Pipe(stdin),
            terminal: false,
            umask: None,
            chance: Default::default(),
            variables: String::new(),
            world: Vec::new(),
            files: Vec::new(),
            named: None,
            channels: ChannelSet::parse(b"ai"),
            options: Options {
                length: 9,
                elements: 8,
                updates: 7,
                input: 6,
            },
        };
        let words = "channels=ai,length=9,elements=8,updates=7,input=6";
        assert_eq!(
            capsule.option_words(Origin::Recorded),
            format!("{words},stdin=5")
        );
        assert_eq!(
            capsule.option_words(Origin::Invented),
            format!("{words},allocation=1073741824,events=262144,terms=2097152,stdin=5")
        );
    }
}
