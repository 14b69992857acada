//! A test of an earlier exploration, run once more on its sanitizer twin for a person to look at.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use nearmiss_abi::environment::REPLAY;
use nearmiss_abi::server::MODE_FUNCTION;
use nearmiss_harness::VERDICT;
use nearmiss_judge::run_twin;
use nearmiss_sandbox::{Limits, Outcome, Sandbox, Spec, Stdin};
use nearmiss_server::{Request, Server};
use nearmiss_twin::{Judge, TwinProgram};

use crate::build;
use crate::error::ExploreError;
use crate::judge::settings;
use crate::study::environment;

/// How long a run may take: longer than in an exploration, which makes thousands.
const RUN_TIME: Duration = Duration::from_secs(10);

/// An exploration that has been made.
#[derive(Clone, Debug)]
pub struct Explored {
    /// Where it was made: [`crate::Config::directory`].
    pub directory: PathBuf,
    /// With what its twin is built, should that be gone.
    pub compiler: nearmiss_compile::Config,
    /// Where the twin runs.
    pub sandbox: Sandbox,
}

impl Explored {
    /// The program that was explored.
    pub fn program(&self) -> PathBuf {
        self.build().join(build::PROGRAM)
    }

    /// Runs the twin on the rows of a test: what it prints, and how it ends.
    pub fn replay(&self, rows: &[u8]) -> Result<Outcome, ExploreError> {
        self.replay_by(Judge::Address, rows)
    }

    /// The same by the twin of this judge.
    pub fn replay_by(&self, judge: Judge, rows: &[u8]) -> Result<Outcome, ExploreError> {
        let named = self.directory.join("replay");
        fs::write(&named, rows).map_err(|error| ExploreError::File(named.clone(), error))?;
        let twin = self.twin(judge)?;
        let mut environment: Vec<_> = environment();
        environment.push((REPLAY.into(), named.into()));
        let spec = Spec {
            program: twin.program.clone(),
            arguments: vec![twin.program.clone().into()],
            environment,
            directory: self.directory.clone(),
            stdin: Stdin::Null,
            umask: None,
            process: None,
            world: Vec::new(),
            files: Vec::new(),
            stand_ins: Vec::new(),
            writable: Vec::new(),
            limits: Limits {
                wall: RUN_TIME,
                cpu_seconds: RUN_TIME.as_secs() + 1,
                ..Limits::default()
            },
        };
        Ok(run_twin(&self.sandbox, &twin, spec)?)
    }

    /// What the oracle says on the rows of a test, if there is one and the function returns.
    pub fn verdict(&self, rows: &[u8]) -> Result<Option<bool>, ExploreError> {
        let settings = settings(
            &self.twin(Judge::Address)?,
            environment(),
            self.directory.join("judge"),
            false,
        );
        let mut server = Server::start(&self.sandbox, settings)?;
        let request = Request {
            mode: MODE_FUNCTION,
            rows,
            time: RUN_TIME,
            fresh: false,
        };
        let run = server.run(&request)?;
        let said = run.result(VERDICT);
        Ok(said.map(|bytes| bytes.iter().any(|&byte| byte != 0)))
    }

    fn build(&self) -> PathBuf {
        self.directory.join(build::DIRECTORY)
    }

    fn twin(&self, judge: Judge) -> Result<TwinProgram, ExploreError> {
        let program = self.program();
        if !program.exists() {
            return Err(ExploreError::ProgramGone(self.directory.clone()));
        }
        Ok(build::twin_of(&program, judge, &self.compiler)?)
    }
}
