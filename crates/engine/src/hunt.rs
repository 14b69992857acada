//! From predictions to failures that were seen: each candidate of a path is replayed, and what
//! the twin says decides.

mod findings;

use std::time::{Duration, Instant};

use nearmiss_results::Status;
use nearmiss_sandbox::Limits;
use nearmiss_solve::Model;
use nearmiss_trace::{Channel, Path};

use crate::analyse::{Analysis, Candidate};
use crate::capsule::Capsule;
use crate::complaint::Complaint;
use crate::confirm::{Replayer, Verdict};
use crate::defects::Found;
use crate::error::EngineError;
use crate::identity;
use crate::invent::{Invented, invent};
use crate::lab::Lab;
use crate::lengths::resizes;
use crate::resize::Growth;
use crate::spot::Check;
use crate::subject::Subject;
use crate::test_case::TestCase;

pub use findings::{describe, show_argument};

/// A path whose candidates are to be judged.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    /// The test that led to it.
    pub test: &'a TestCase,
    /// What the test's own input is.
    pub own: &'a [Channel],
    /// What took the path.
    pub capsule: &'a Capsule,
    /// The path.
    pub path: &'a Path,
    /// How far it is from the test's own.
    pub distance: u32,
}

impl Case<'_> {
    /// Whether the path is the test's own.
    fn is_own(&self) -> bool {
        self.distance == 0
    }
}

/// What is needed to make findings of candidates.
pub struct Hunt<'a> {
    lab: &'a Lab<'a>,
    subject: &'a Subject,
    case: Case<'a>,
    limits: Limits,
    deadline: Instant,
    /// What the twin complains about on the test's own input.
    anyway: &'a [Complaint],
    /// What is known of this test already: need not be shown again.
    known: &'a [Found],
    /// Inputs that fail, but not where that was predicted.
    strays: Vec<(Candidate, Growth, Vec<Complaint>)>,
    /// What was found.
    pub found: Vec<Found>,
    /// New inputs whose run left the predicted path.
    pub divergences: u64,
    /// Checks that were not decided, and were seen to fail.
    pub confirmed_guesses: u64,
}

/// Once the twin is built there is at least so much time for replays, so that what was found late
/// is confirmed too.
const LEAST_TIME: Duration = Duration::from_secs(10);

impl<'a> Hunt<'a> {
    /// A hunt on one path, until `deadline`.
    pub fn new(
        (lab, subject): (&'a Lab<'a>, &'a Subject),
        case: Case<'a>,
        limits: Limits,
        (anyway, known): (&'a [Complaint], &'a [Found]),
        deadline: Instant,
    ) -> Hunt<'a> {
        Hunt {
            lab,
            subject,
            case,
            limits,
            deadline,
            anyway,
            known,
            strays: Vec::new(),
            found: Vec::new(),
            divergences: 0,
            confirmed_guesses: 0,
        }
    }

    /// Replays the candidates of each place until one is confirmed.
    pub fn confirm(&mut self, analysis: &Analysis) -> Result<(), EngineError> {
        let (places, probes) = (&analysis.places, &analysis.probes);
        if places.is_empty() && probes.is_empty() {
            return Ok(());
        }
        let replayer = self.replayer();
        if self.case.is_own() {
            // The twin is built before the clock runs.
            let bench = self.lab.bench;
            let _ = self
                .subject
                .twin(bench.config, bench.campaign.root(), bench.tally);
            self.deadline = self.deadline.max(Instant::now() + LEAST_TIME);
        }
        for candidates in places {
            if self.is_known_place(&candidates[0].check) {
                continue;
            }
            if let Some(found) = self.best(&replayer, candidates)? {
                self.add(found);
            }
        }
        for probe in probes {
            self.follow_probe(&replayer, probe)?;
        }
        for (candidate, growth, complaints) in std::mem::take(&mut self.strays) {
            self.tell(&replayer, (&candidate, growth), complaints, "")?;
        }
        Ok(())
    }

    /// Makes findings of what the twin said about the path's own input. Memory errors on data
    /// that is not input are seen by nobody else.
    pub fn tell_own(&mut self, complaints: &[Complaint]) -> Result<(), EngineError> {
        let replayer = self.replayer();
        let news = match self.case.is_own() {
            true => complaints.to_vec(),
            false => self.news(complaints.to_vec()),
        };
        for complaint in news {
            let invented = self.invent(&Model::new(), Growth::End)?;
            self.add_unpredicted(&replayer, &complaint, "", invented, self.case.distance);
        }
        Ok(())
    }

    fn replayer(&self) -> Replayer<'a> {
        Replayer {
            lab: self.lab,
            limits: self.limits.clone(),
            subject: self.subject,
            events: &self.case.path.events,
        }
    }

    fn is_over(&self) -> bool {
        self.lab.bench.is_over(self.deadline)
    }

    /// Whether this test is known to lead to a failure here.
    fn is_known_place(&self, check: &Check) -> bool {
        let spot = &check.spot;
        self.known.iter().any(|known| {
            let finding = &known.finding;
            finding.status == Status::Confirmed
                && (finding.kind, &finding.file, finding.line, finding.column)
                    == (spot.kind, &spot.file, spot.line, spot.column)
        })
    }

    fn add(&mut self, found: Found) {
        let known = self.found.iter().chain(self.known);
        if !known
            .into_iter()
            .any(|known| identity::is_same(&known.finding, &found.finding))
        {
            self.found.push(found);
        }
    }

    /// The nearest candidate that is confirmed; if none is, the nearest that was predicted, if it is
    /// on the test's own path.
    fn best(
        &mut self,
        replayer: &Replayer,
        candidates: &[Candidate],
    ) -> Result<Option<Found>, EngineError> {
        let mut first = None;
        for (candidate, growth) in self.attempts(candidates) {
            if self.is_over() && (first.is_some() || candidate.guess) {
                break;
            }
            let invented = self.invent(&candidate.changes, growth)?;
            let verdict = self.judge(replayer, candidate, &invented.capsule);
            // A guess promised nothing.
            let promised = !candidate.guess && growth == Growth::End;
            self.divergences += u64::from(verdict.diverged && promised);
            let confirmed = verdict.confirmed.is_some();
            // A branch to `abort` whose program ended before, in a function that it called: that is told.
            let ended_before = candidate.check.spot.kind.is_exit() && has_ended(&verdict.others);
            if !confirmed && !verdict.others.is_empty() {
                self.strays
                    .push((candidate.clone(), growth, verdict.others.clone()));
            }
            if confirmed {
                self.confirmed_guesses += u64::from(candidate.guess);
                return Ok(Some(
                    self.predicted(replayer, candidate, invented, &verdict),
                ));
            }
            if !candidate.guess && !ended_before && first.is_none() {
                first = Some(self.predicted(replayer, candidate, invented, &verdict));
            } else {
                invented.forget();
            }
        }
        // Beyond the recorded path there are thousands of predictions: only what was seen is told.
        Ok(first.filter(|_| self.case.is_own()))
    }

    /// How candidates are tried: those whose input grows in two ways.
    fn attempts<'c>(&self, candidates: &'c [Candidate]) -> Vec<(&'c Candidate, Growth)> {
        let mut attempts = Vec::new();
        for candidate in candidates {
            attempts.push((candidate, Growth::End));
            let resizes = resizes(&self.case.path.channels, &candidate.changes);
            if resizes.iter().any(|one| one.to > one.piece.length) {
                attempts.push((candidate, Growth::Inside));
            }
        }
        attempts
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
    fn follow_probe(&mut self, replayer: &Replayer, probe: &Candidate) -> Result<(), EngineError> {
        if self.is_over() {
            return Ok(());
        }
        let spot = &probe.check.spot;
        let why = format!(" when the allocation at {}:{} fails", spot.file, spot.line);
        let invented = self.invent(&probe.changes, Growth::End)?;
        let complaints = replayer.try_twin(&invented.capsule).unwrap_or_default();
        invented.forget();
        self.tell(replayer, (probe, Growth::End), complaints, &why)
    }

    /// Makes findings of complaints that nobody predicted.
    fn tell(
        &mut self,
        replayer: &Replayer,
        (candidate, growth): (&Candidate, Growth),
        complaints: Vec<Complaint>,
        why: &str,
    ) -> Result<(), EngineError> {
        for complaint in self.news(complaints) {
            // Each has its own copy of the input.
            let invented = self.invent(&candidate.changes, growth)?;
            let distance = self.case.distance.max(1);
            self.add_unpredicted(replayer, &complaint, why, invented, distance);
        }
        Ok(())
    }

    /// The complaints that the twin does not have on the test's own input too.
    fn news(&self, complaints: Vec<Complaint>) -> Vec<Complaint> {
        let is_new = |complaint: &Complaint| {
            let place = complaint.places.first();
            !self
                .anyway
                .iter()
                .any(|old| old.places.first() == place && old.kinds == complaint.kinds)
        };
        complaints.into_iter().filter(is_new).collect()
    }

    fn invent(&self, changes: &Model, growth: Growth) -> Result<Invented, EngineError> {
        let bench = self.lab.bench;
        let (capsule, channels) = (self.case.capsule, &self.case.path.channels);
        invent(capsule, channels, changes, growth, &bench.new_directory())
            .map_err(|error| bench.campaign.failed(error))
    }
}

/// Whether one of these says that the program ended itself.
fn has_ended(complaints: &[Complaint]) -> bool {
    let mut kinds = complaints.iter().flat_map(|complaint| &complaint.kinds);
    kinds.any(|kind| kind.is_exit())
}
