//! From predictions to findings: each is replayed, and what the twin says decides.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nearmiss_results::{Finding, Report, Status, Test};
use nearmiss_sandbox::Limits;
use nearmiss_solve::Model;
use nearmiss_trace::Path;
use nearmiss_twin::TwinProgram;

use crate::analyse::{Analysis, Candidate};
use crate::campaign::{Campaign, RunDirectory};
use crate::capsule::Capsule;
use crate::complaint::{Complaint, is_memory};
use crate::confirm::{Replayer, Seen, Verdict};
use crate::error::EngineError;
use crate::invent::{Invented, invent};
use crate::lengths::resizes;
use crate::program::Program;
use crate::record::Recording;
use crate::resize::Growth;
use crate::spot::{self, Check};
use crate::summary::summarise;
use crate::{Config, Progress};

/// What is needed to make findings of candidates.
pub struct Hunt<'a> {
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
    /// What the twin complains about on the recorded input, once that is wanted.
    anyway: Option<Vec<Complaint>>,
    /// Inputs that fail, but not where that was predicted.
    strays: Vec<(Candidate, Growth, Vec<Complaint>)>,
}

/// Once the twin is built there is at least so much time for replays, so that what was found late
/// is confirmed too.
const LEAST_TIME: Duration = Duration::from_secs(20);

impl<'a> Hunt<'a> {
    /// A hunt in the directory of a run, until `deadline`.
    pub fn new(
        (config, campaign, directory): (&'a Config, &'a Campaign, &'a RunDirectory),
        (recording, path, program): (&'a Recording, &'a Path, &'a Program),
        deadline: Instant,
    ) -> Hunt<'a> {
        Hunt {
            config,
            campaign,
            directory,
            recording,
            path,
            program,
            deadline,
            divergences: 0,
            confirmed_guesses: 0,
            unconfirmable: None,
            anyway: None,
            strays: Vec::new(),
        }
    }

    /// Replays the candidates of each place until one is confirmed.
    pub fn confirm(
        &mut self,
        analysis: &Analysis,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Vec<Finding>, EngineError> {
        let mut findings: Vec<Finding> = Vec::new();
        let (places, probes) = (&analysis.places, &analysis.probes);
        if places.is_empty() && probes.is_empty() {
            return Ok(findings);
        }
        let total = places.len() + probes.len();
        // Asked here and not before the analysis: where nothing can fail no sandbox is needed.
        let refused = |why| EngineError::NoSandbox { total, why };
        self.config.sandbox.check().map_err(refused)?;
        progress(Progress::BuildingTwin);
        let replayer = self.replayer();
        self.deadline = self.deadline.max(Instant::now() + LEAST_TIME);
        for (done, candidates) in places.iter().enumerate() {
            progress(Progress::Confirming { done, total });
            let id = next_id(&findings);
            let found = self.best(&replayer, candidates, &id)?;
            findings.extend(found.filter(|found| !is_known(&findings, found)));
            // What is there so far survives a kill.
            self.campaign
                .write_report(&self.report(findings.clone(), analysis))?;
        }
        for (number, probe) in probes.iter().enumerate() {
            progress(Progress::Confirming {
                done: places.len() + number,
                total,
            });
            self.follow_probe(&replayer, probe, &mut findings)?;
        }
        for (candidate, growth, complaints) in std::mem::take(&mut self.strays) {
            self.tell(
                &replayer,
                (&candidate, growth),
                complaints,
                "",
                &mut findings,
            )?;
        }
        self.tell_recorded(&replayer, &mut findings)?;
        // Traces of replays are of no use any more; the next run would remove them too.
        let _ = std::fs::remove_dir_all(&replayer.scratch);
        Ok(findings)
    }

    pub fn report(&self, findings: Vec<Finding>, analysis: &Analysis) -> Report {
        let (divergences, unconfirmable) = (self.divergences, self.unconfirmable.clone());
        let sites = &self.program.sites;
        let mut summary = summarise(self.path, sites, analysis, divergences, unconfirmable);
        summary.checks.undecided -= self.confirmed_guesses;
        summary.checks.failing += self.confirmed_guesses;
        summary.uninstrumented = self.program.uninstrumented.clone();
        summary.complete &= summary.uninstrumented.is_empty();
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
        for (candidate, growth) in self.attempts(candidates) {
            if self.is_over() && (first.is_some() || candidate.guess) {
                break;
            }
            let invented = self.invent(candidate, growth, id)?;
            let verdict = self.judge(replayer, candidate, &invented.capsule);
            // A guess promised nothing.
            let promised = !candidate.guess && growth == Growth::End;
            self.divergences += u64::from(verdict.diverged && promised);
            let confirmed = verdict.confirmed.is_some();
            let finding = self.finding(id, candidate, invented, &verdict);
            if !confirmed && !verdict.others.is_empty() {
                self.strays
                    .push((candidate.clone(), growth, verdict.others.clone()));
            }
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
        self.invent(candidate, Growth::End, id)?;
        Ok(Some(finding))
    }

    /// How candidates are tried: those whose input grows in two ways.
    fn attempts<'c>(&self, candidates: &'c [Candidate]) -> Vec<(&'c Candidate, Growth)> {
        let mut attempts = Vec::new();
        for candidate in candidates {
            attempts.push((candidate, Growth::End));
            let resizes = resizes(&self.path.channels, &candidate.changes);
            if resizes.iter().any(|one| one.to > one.piece.length) {
                attempts.push((candidate, Growth::Inside));
            }
        }
        attempts
    }

    fn is_over(&self) -> bool {
        self.config.is_stopped() || Instant::now() >= self.deadline
    }

    fn judge(&self, replayer: &Replayer, candidate: &Candidate, capsule: &Capsule) -> Verdict {
        if self.is_over() {
            return Verdict {
                confirmed: None,
                diverged: false,
                doubt: "there was no time left to replay it".into(),
                others: Vec::new(),
            };
        }
        replayer.judge(candidate, capsule)
    }

    /// Runs the twin on an input that leaves the path: whatever it complains about that it does
    /// not complain about anyway is a failure.
    fn follow_probe(
        &mut self,
        replayer: &Replayer,
        probe: &Candidate,
        findings: &mut Vec<Finding>,
    ) -> Result<(), EngineError> {
        if self.is_over() {
            return Ok(());
        }
        let spot = &probe.check.spot;
        let why = format!(" when the allocation at {}:{} fails", spot.file, spot.line);
        let invented = self.invent(probe, Growth::End, &next_id(findings))?;
        let complaints = replayer.try_twin(&invented.capsule).unwrap_or_default();
        self.tell(replayer, (probe, Growth::End), complaints, &why, findings)
    }

    /// Makes findings of complaints that nobody predicted.
    fn tell(
        &mut self,
        replayer: &Replayer,
        (candidate, growth): (&Candidate, Growth),
        complaints: Vec<Complaint>,
        why: &str,
        findings: &mut Vec<Finding>,
    ) -> Result<(), EngineError> {
        for complaint in self.news(replayer, complaints) {
            let id = next_id(findings);
            // Each has its own copy of the input.
            let invented = self.invent(candidate, growth, &id)?;
            let finding = self.unpredicted(&id, &complaint, why, invented);
            findings.extend(finding.filter(|found| !is_known(findings, found)));
        }
        Ok(())
    }

    /// What the twin complains about on the recorded input itself. Memory errors on data that
    /// is not input are seen by nobody else.
    fn tell_recorded(
        &mut self,
        replayer: &Replayer,
        findings: &mut Vec<Finding>,
    ) -> Result<(), EngineError> {
        if self.is_over() {
            return Ok(());
        }
        for complaint in self.anyway(replayer).to_vec() {
            let id = next_id(findings);
            let invented = self.invent_changes(&Model::new(), Growth::End, &id)?;
            let finding = self.unpredicted(&id, &complaint, "", invented);
            let finding = finding.map(|finding| Finding {
                distance: 0,
                ..finding
            });
            findings.extend(finding.filter(|found| !is_known(findings, found)));
        }
        Ok(())
    }

    fn anyway(&mut self, replayer: &Replayer) -> &[Complaint] {
        self.anyway.get_or_insert_with(|| {
            let recorded = replayer.try_twin(&self.recording.capsule);
            recorded.unwrap_or_default()
        })
    }

    /// The complaints that the twin does not have on the recorded input too.
    fn news(&mut self, replayer: &Replayer, complaints: Vec<Complaint>) -> Vec<Complaint> {
        if complaints.is_empty() {
            return complaints;
        }
        let anyway = self.anyway(replayer);
        let is_new = |complaint: &Complaint| {
            let place = complaint.places.first();
            !anyway
                .iter()
                .any(|old| old.places.first() == place && old.kinds == complaint.kinds)
        };
        complaints.into_iter().filter(is_new).collect()
    }

    /// A finding at the place of a complaint that nobody predicted.
    fn unpredicted(
        &self,
        id: &str,
        complaint: &Complaint,
        why: &str,
        invented: Invented,
    ) -> Option<Finding> {
        let (kind, place) = spot::of_complaint(&self.program.sites, complaint)?;
        let wanted = self.config.checks.as_ref();
        if wanted.is_some_and(|kinds| !kinds.contains(&kind)) {
            return None;
        }
        Some(Finding {
            id: id.to_string(),
            kind,
            status: Status::Confirmed,
            file: place.file,
            line: place.line,
            column: place.column,
            function: place.function,
            distance: 1,
            tests: 1,
            test: test(self.recording),
            input: invented.input,
            changes: invented.changes,
            lengths: invented.lengths,
            message: format!("{}{why}", complaint.text),
            replay: format!("nearmiss replay {id}"),
        })
    }

    fn invent(
        &self,
        candidate: &Candidate,
        growth: Growth,
        id: &str,
    ) -> Result<Invented, EngineError> {
        self.invent_changes(&candidate.changes, growth, id)
    }

    fn invent_changes(
        &self,
        changes: &Model,
        growth: Growth,
        id: &str,
    ) -> Result<Invented, EngineError> {
        let directory = self.directory.input(id);
        let failed = |error| self.campaign.failed(error);
        if directory.exists() {
            std::fs::remove_dir_all(&directory).map_err(failed)?;
        }
        let channels = &self.path.channels;
        invent(
            &self.recording.capsule,
            channels,
            changes,
            growth,
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
        let (status, kind, message) = match &verdict.confirmed {
            Some(seen) => (Status::Confirmed, seen.kind, words(check, seen)),
            None => (
                Status::Unconfirmed,
                check.spot.kind,
                format!("{} (not confirmed: {})", check.message, verdict.doubt),
            ),
        };
        Finding {
            id: id.to_string(),
            kind,
            status,
            file: check.spot.file.clone(),
            line: check.spot.line,
            column: check.spot.column,
            function: check.function.clone(),
            distance: 0,
            tests: 1,
            test: test(self.recording),
            input: invented.input,
            changes: invented.changes,
            lengths: invented.lengths,
            message,
            replay: format!("nearmiss replay {id}"),
        }
    }
}

/// What happened, for a person: what was predicted and what was seen, where they agree.
fn words(check: &Check, seen: &Seen) -> String {
    let agree = check.spot.kind == seen.kind && seen.text.starts_with("AddressSanitizer");
    match agree {
        true => format!("{} ({})", check.message, seen.text),
        false => seen.text.clone(),
    }
}

/// The number of the next finding.
fn next_id(findings: &[Finding]) -> String {
    format!("NM-{}", findings.len() + 1)
}

/// Whether a failure is among the findings already. Memory errors at one place that show as one
/// are one; so is one that was only predicted where another was seen.
fn is_known(findings: &[Finding], new: &Finding) -> bool {
    findings.iter().any(|known| {
        let place = |finding: &Finding| (finding.file.clone(), finding.line);
        let same_kind = known.kind == new.kind
            && (known.column == new.column || known.column == 0 || new.distance > 0);
        let shadowed = is_memory(known.kind)
            && is_memory(new.kind)
            && known.column == new.column
            && known.status == Status::Confirmed
            && new.status == Status::Unconfirmed;
        place(known) == place(new) && (same_kind || shadowed)
    })
}

pub fn build_twin(
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
pub fn limits(recorded: Duration) -> Limits {
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
        id: String::new(),
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
