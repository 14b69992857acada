//! `nearmiss run` and `nearmiss replay`, from beginning to end.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nearmiss_results::{Finding, Report, Status, Test};
use nearmiss_sandbox::{Limits, Outcome};
use nearmiss_trace::{Path, RawTrace};
use nearmiss_twin::TwinProgram;

use crate::analyse::{Analysis, Candidate, analyse};
use crate::campaign::{Campaign, RunDirectory, read_report};
use crate::capsule::Capsule;
use crate::confirm::{Replayer, Verdict, run_twin};
use crate::error::EngineError;
use crate::invent::{Invented, invent};
use crate::program::{self, Program};
use crate::record::{Recording, record};
use crate::summary::summarise;
use crate::{Config, Progress, Target};

/// Runs a program once, looks for inputs next to its own that make it fail, and reports them.
pub fn run(
    target: Target,
    config: &Config,
    progress: &mut dyn FnMut(Progress),
) -> Result<Report, EngineError> {
    let program = program::inspect(&target.program, &target.environment)?;
    let campaign = Campaign::open(&config.directory)?;
    let directory = campaign.new_run()?;
    progress(Progress::Recording);
    let recording = record(target, config, &campaign, &directory)?;
    progress(Progress::Reading);
    let mut path = read(&recording, &program, &campaign)?;
    let deadline = Instant::now() + config.time;
    let analysis = analyse(&mut path, &program.sites, config, deadline, progress);
    let mut hunt = Hunt {
        config,
        campaign: &campaign,
        directory: &directory,
        recording: &recording,
        path: &path,
        program: &program,
        deadline,
        divergences: 0,
        confirmed_guesses: 0,
        unconfirmable: None,
    };
    let findings = hunt.confirm(&analysis, progress)?;
    let report = hunt.report(findings, &analysis);
    campaign.write_report(&report)?;
    campaign.keep_only(&directory)?;
    Ok(report)
}

fn read(
    recording: &Recording,
    program: &Program,
    campaign: &Campaign,
) -> Result<Path, EngineError> {
    let failed = |error| EngineError::Trace(recording.trace.clone(), error);
    let raw = RawTrace::open(&recording.trace).map_err(failed)?;
    let stdin = recording
        .capsule
        .stdin_content()
        .map_err(|error| campaign.failed(error))?;
    Ok(Path::read(&raw, &program.sites, stdin.as_deref()))
}

/// What is needed to make findings of candidates.
struct Hunt<'a> {
    config: &'a Config,
    campaign: &'a Campaign,
    directory: &'a RunDirectory,
    recording: &'a Recording,
    path: &'a Path,
    program: &'a Program,
    deadline: Instant,
    divergences: u64,
    confirmed_guesses: u64,
    unconfirmable: Option<String>,
}

/// Replays go on this long after the time for the analysis is up, so that what was found late
/// is confirmed too.
const EXTRA_TIME: Duration = Duration::from_secs(20);

impl<'a> Hunt<'a> {
    /// Replays the candidates of each place until one is confirmed.
    fn confirm(
        &mut self,
        analysis: &Analysis,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Vec<Finding>, EngineError> {
        let mut findings = Vec::new();
        if analysis.places.is_empty() {
            return Ok(findings);
        }
        progress(Progress::BuildingTwin);
        let replayer = self.replayer();
        for (number, candidates) in analysis.places.iter().enumerate() {
            progress(Progress::Confirming {
                done: number,
                total: analysis.places.len(),
            });
            let id = format!("NM-{}", findings.len() + 1);
            findings.extend(self.best(&replayer, candidates, &id)?);
            // What is there so far survives a kill.
            self.campaign
                .write_report(&self.report(findings.clone(), analysis))?;
        }
        // Traces of replays are of no use any more; the next run would remove them too.
        let _ = std::fs::remove_dir_all(&replayer.scratch);
        Ok(findings)
    }

    fn report(&self, findings: Vec<Finding>, analysis: &Analysis) -> Report {
        let (divergences, unconfirmable) = (self.divergences, self.unconfirmable.clone());
        let sites = &self.program.sites;
        let mut summary = summarise(self.path, sites, analysis, divergences, unconfirmable);
        summary.checks.undecided -= self.confirmed_guesses;
        summary.checks.failing += self.confirmed_guesses;
        Report::new(findings, summary)
    }

    fn replayer(&mut self) -> Replayer<'a> {
        let capsule = &self.recording.capsule;
        let twin = build_twin(
            self.config,
            self.campaign,
            &capsule.program,
            &self.program.libraries,
        );
        self.unconfirmable = twin.as_ref().err().cloned();
        Replayer {
            sandbox: &self.config.sandbox,
            limits: limits(self.recording.time),
            sites: &self.program.sites,
            events: &self.path.events,
            twin,
            scratch: self.directory.join("replay"),
        }
    }

    /// The nearest candidate that is confirmed; if none is, the nearest that was predicted.
    fn best(
        &mut self,
        replayer: &Replayer,
        candidates: &[Candidate],
        id: &str,
    ) -> Result<Option<Finding>, EngineError> {
        let mut first = None;
        for candidate in candidates {
            if self.is_over() && (first.is_some() || candidate.guess) {
                break;
            }
            let invented = self.invent(candidate, id)?;
            let verdict = self.judge(replayer, candidate, &invented.capsule);
            // A guess promised nothing.
            self.divergences += u64::from(verdict.diverged && !candidate.guess);
            let confirmed = verdict.confirmed.is_some();
            let finding = self.finding(id, candidate, invented, &verdict);
            if confirmed {
                self.confirmed_guesses += u64::from(candidate.guess);
                return Ok(Some(finding));
            }
            if !candidate.guess {
                first.get_or_insert((candidate, finding));
            }
        }
        let Some((candidate, finding)) = first else {
            return Ok(None);
        };
        // Others may have been written over it.
        self.invent(candidate, id)?;
        Ok(Some(finding))
    }

    fn is_over(&self) -> bool {
        self.config.is_stopped() || Instant::now() >= self.deadline + EXTRA_TIME
    }

    fn judge(&self, replayer: &Replayer, candidate: &Candidate, capsule: &Capsule) -> Verdict {
        if self.is_over() {
            return Verdict {
                confirmed: None,
                diverged: false,
                doubt: "there was no time left to replay it".into(),
            };
        }
        replayer.judge(candidate, capsule)
    }

    fn invent(&self, candidate: &Candidate, id: &str) -> Result<Invented, EngineError> {
        let directory = self.directory.input(id);
        let failed = |error| self.campaign.failed(error);
        if directory.exists() {
            std::fs::remove_dir_all(&directory).map_err(failed)?;
        }
        let channels = &self.path.channels;
        invent(
            &self.recording.capsule,
            channels,
            &candidate.changes,
            &directory,
        )
        .map_err(failed)
    }

    fn finding(
        &self,
        id: &str,
        candidate: &Candidate,
        invented: Invented,
        verdict: &Verdict,
    ) -> Finding {
        let check = &candidate.check;
        let (status, message) = match &verdict.confirmed {
            Some(words) => (Status::Confirmed, words.clone()),
            None => (
                Status::Unconfirmed,
                format!("{} (not confirmed: {})", check.message, verdict.doubt),
            ),
        };
        Finding {
            id: id.to_string(),
            kind: check.spot.kind,
            status,
            file: check.spot.file.clone(),
            line: check.spot.line,
            column: check.spot.column,
            function: check.function.clone(),
            distance: 0,
            test: test(self.recording),
            input: invented.input,
            changes: invented.changes,
            message,
            replay: format!("nearmiss replay {id}"),
        }
    }
}

fn build_twin(
    config: &Config,
    campaign: &Campaign,
    program: &std::path::Path,
    libraries: &[PathBuf],
) -> Result<TwinProgram, String> {
    let twin = nearmiss_twin::Config {
        clang: config.clang.clone(),
        library_directory: config.library_directory.clone(),
        jobs: std::thread::available_parallelism().map_or(1, usize::from),
    };
    let name = program.file_name().unwrap_or_default();
    let directory = campaign.root().join("twins").join(name);
    nearmiss_twin::build(program, libraries, &directory, &twin)
        .map_err(|error| format!("its sanitizer twin could not be built: {error}"))
}

/// A replay may take longer than the recorded run, but not for ever.
fn limits(recorded: Duration) -> Limits {
    let wall = (recorded * 20).clamp(Duration::from_secs(5), Duration::from_secs(60));
    Limits {
        wall,
        cpu_seconds: wall.as_secs() + 1,
        ..Limits::default()
    }
}

fn test(recording: &Recording) -> Test {
    let capsule = &recording.capsule;
    let show = |argument: &std::ffi::OsString| match argument.to_str() {
        Some(text) => text.to_string(),
        None => argument.as_bytes().escape_ascii().to_string(),
    };
    Test {
        program: capsule.program.clone(),
        argv: capsule.arguments.iter().map(show).collect(),
        cwd: capsule.directory.clone(),
        stdin: match &capsule.stdin {
            nearmiss_sandbox::Stdin::Null => None,
            nearmiss_sandbox::Stdin::File(path) | nearmiss_sandbox::Stdin::Pipe(path) => {
                Some(path.clone())
            }
        },
        ended: recording.ended.clone(),
        trace: recording.trace.clone(),
    }
}

/// Runs the input of a finding once more, by the program itself or by its twin.
pub fn replay(id: &str, twin: bool, config: &Config) -> Result<Outcome, EngineError> {
    let report = read_report(&config.directory)?;
    let finding = report
        .finding(id)
        .ok_or_else(|| EngineError::NoFinding(id.to_string()))?;
    let campaign = Campaign::open(&config.directory)?;
    let run = finding
        .test
        .trace
        .parent()
        .and_then(|traces| traces.parent());
    let directory = run
        .unwrap_or(campaign.root())
        .join("inputs")
        .join(&finding.id);
    let capsule = Capsule::read(&directory).map_err(|error| campaign.failed(error))?;
    let limits = limits(Duration::from_secs(1));
    let outcome = if twin {
        let libraries = program::inspect(&capsule.program, &capsule.environment)?.libraries;
        let twin = build_twin(config, &campaign, &capsule.program, &libraries)
            .map_err(EngineError::Replay)?;
        run_twin(&config.sandbox, &twin, &capsule, &limits)
    } else {
        config
            .sandbox
            .run(&capsule.spec(&capsule.program, &[], &limits))
    };
    outcome.map_err(|error| EngineError::Replay(error.to_string()))
}
