//! From predictions to failures that were seen: each candidate of a path is replayed, and what
//! the twin says decides.

mod findings;
mod longer;

use std::sync::Mutex;
use std::time::{Duration, Instant};

use nearmiss_abi::check::Kind;
use nearmiss_campaign::capsule::Capsule;
use nearmiss_campaign::test_case::TestCase;
use nearmiss_judge::spot::Check;
use nearmiss_judge::{Complaint, Expected, Trial, Verdict, confirm, defects, identity, nearness};
use nearmiss_results::{Finding, Status};
use nearmiss_solve::Model;
use nearmiss_trace::{Channel, RecordedPath};

use crate::analyse::{Analysis, Candidate};
use crate::defects::{Defects, Found, take_in};
use crate::error::EngineError;
use crate::invent::{Invented, contents_of, invent};
use crate::lengths::resizes;
use crate::resize::Growth;
use crate::trials::Trials;

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
    pub path: &'a RecordedPath,
    /// How far it is from the test's own.
    pub distance: u32,
}

impl Case<'_> {
    /// Whether the path is the test's own.
    fn is_own(&self) -> bool {
        self.distance == 0
    }
}

/// What is known of a test already: need not be shown again.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// What the twin complains about on the test's own input.
    pub baseline: &'a [Complaint],
    /// The failures that it leads to.
    pub found: &'a [Found],
    /// Those of all tests.
    pub everywhere: &'a Mutex<Defects>,
}

/// What is needed to make findings of candidates.
pub struct Confirmer<'a> {
    trials: Trials<'a>,
    case: Case<'a>,
    known: Known<'a>,
    /// Inputs that fail, but not where that was predicted.
    unpredicted: Vec<(Candidate, Growth, Vec<Complaint>)>,
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

impl<'a> Confirmer<'a> {
    /// A confirmer for one path.
    pub fn new(trials: Trials<'a>, case: Case<'a>, known: Known<'a>) -> Confirmer<'a> {
        Confirmer {
            trials,
            case,
            known,
            unpredicted: Vec::new(),
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
        if self.case.is_own() {
            // The twin is built before the clock runs.
            let Trials {
                worker, subject, ..
            } = self.trials;
            let shared = worker.shared;
            let _ = subject.twin(shared);
            let least = Instant::now() + LEAST_TIME;
            self.trials.deadline = self.trials.deadline.max(least);
        }
        for candidates in places {
            let known = self.known_at(&candidates[0].check);
            let is_nearer =
                |candidate: &&Candidate| known.is_none_or(|it| self.cost(candidate) < it);
            let nearer: Vec<&Candidate> = candidates.iter().filter(is_nearer).collect();
            if let Some(found) = self.best(&nearer)? {
                self.add(found);
            }
        }
        for probe in probes {
            self.follow_probe(probe)?;
        }
        for (candidate, growth, complaints) in std::mem::take(&mut self.unpredicted) {
            self.tell((&candidate, growth), complaints, "")?;
        }
        Ok(())
    }

    /// Makes findings of what the twin said about the path's own input. Memory errors on data
    /// that is not input show nowhere else. Whether the twin ended otherwise than the test did: then it did not see all of it.
    pub fn tell_own(&mut self, complaints: &[Complaint]) -> Result<bool, EngineError> {
        let mut news = match self.case.is_own() {
            true => complaints.to_vec(),
            false => self.news(complaints.to_vec()),
        };
        // An assertion that held when the test ran, on the same input, depends on something else: on the sandbox, say.
        let has_passed = self.case.is_own() && self.case.test.ended.starts_with("exit");
        let all = news.len();
        news.retain(|complaint| !has_passed || complaint.kinds.first() != Some(&Kind::Assertion));
        let differs = news.len() < all;
        for complaint in news {
            let invented = self.invent(&Model::new(), Growth::End)?;
            self.add_unpredicted(&complaint, "", invented, self.case.distance);
        }
        Ok(differs)
    }

    /// How near the nearest input is, if this test is known to lead to a failure here.
    fn known_at(&self, check: &Check) -> Option<u64> {
        let spot = &check.spot;
        let findings = self.known.found.iter().map(|known| &known.finding);
        let here = findings.filter(|finding| {
            finding.status == Status::Confirmed
                && (finding.kind, &finding.file, finding.line, finding.column)
                    == (spot.kind, &spot.file, spot.line, spot.column)
        });
        here.map(nearness::of_finding).min()
    }

    /// How far the input of a candidate is from the test's own.
    fn cost(&self, candidate: &Candidate) -> u64 {
        let channels = &self.case.path.channels;
        let contents = contents_of(channels, &candidate.changes, Growth::End);
        nearness::of_contents(self.case.own, channels, &contents)
    }

    /// What is known of the defect that a finding is of.
    fn known_as(&self, finding: &Finding) -> Option<&Finding> {
        let known = self.found.iter().chain(self.known.found);
        let mut known = known.map(|known| &known.finding);
        known.find(|known| identity::is_same(known, finding))
    }

    fn add(&mut self, found: Found) {
        let known = self.known_as(&found.finding);
        if known.is_none_or(|known| defects::is_better(&found.finding, known)) {
            take_in(&mut self.found, vec![found]);
        }
    }

    /// The nearest candidate that is confirmed; if none is, the nearest that was predicted, if it is
    /// on the test's own path.
    fn best(&mut self, candidates: &[&Candidate]) -> Result<Option<Found>, EngineError> {
        let mut first = None;
        for (candidate, growth) in self.attempts(candidates) {
            if self.trials.is_over() && (first.is_some() || candidate.guess) {
                break;
            }
            let invented = self.invent(&candidate.changes, growth)?;
            let verdict = self.judge(candidate, &invented.capsule);
            // A guess promised nothing.
            let promised = !candidate.guess && growth == Growth::End;
            self.divergences += u64::from(verdict.diverged && promised);
            let confirmed = verdict.confirmed.is_some();
            // A branch to `abort` whose program ended before, in a function that it called: that is told.
            let ended_before = candidate.check.spot.kind.is_exit() && has_ended(&verdict.others);
            if !confirmed && !verdict.others.is_empty() {
                self.unpredicted
                    .push((candidate.clone(), growth, verdict.others.clone()));
            }
            if confirmed {
                self.confirmed_guesses += u64::from(candidate.guess);
                return Ok(Some(self.predicted(candidate, invented, &verdict)));
            }
            if !candidate.guess && !ended_before && first.is_none() {
                first = Some(self.predicted(candidate, invented, &verdict));
            } else {
                invented.forget();
            }
        }
        // Beyond the recorded path there are thousands of predictions: only what was seen is told.
        Ok(first.filter(|_| self.case.is_own()))
    }

    /// How candidates are tried: those whose input grows in two ways.
    fn attempts<'c>(&self, candidates: &[&'c Candidate]) -> Vec<(&'c Candidate, Growth)> {
        let mut attempts = Vec::new();
        for &candidate in candidates {
            attempts.push((candidate, Growth::End));
            let resizes = resizes(&self.case.path.channels, &candidate.changes);
            if resizes.iter().any(|one| one.to > one.piece.length) {
                attempts.push((candidate, Growth::Inside));
            }
        }
        attempts
    }

    fn judge(&self, candidate: &Candidate, capsule: &Capsule) -> Verdict {
        if self.trials.is_over() {
            return Verdict {
                confirmed: None,
                diverged: false,
                doubt: "there was no time left to replay it".into(),
                others: Vec::new(),
            };
        }
        let expected = Expected {
            before: &self.case.path.events[..candidate.event],
            site: candidate.site,
            check: &candidate.check,
        };
        let sites = &self.trials.subject.program.sites;
        confirm(&self.trials, capsule, &expected, sites)
    }

    /// Runs the twin on an input that leaves the path: whatever it complains about that it does
    /// not complain about baseline is a failure.
    fn follow_probe(&mut self, probe: &Candidate) -> Result<(), EngineError> {
        if self.trials.is_over() {
            return Ok(());
        }
        let spot = &probe.check.spot;
        let why = format!(" when the allocation at {}:{} fails", spot.file, spot.line);
        let invented = self.invent(&probe.changes, Growth::End)?;
        let complaints = self.trials.twin(&invented.capsule).unwrap_or_default();
        invented.forget();
        self.tell((probe, Growth::End), complaints, &why)
    }

    /// Makes findings of complaints that nobody predicted.
    fn tell(
        &mut self,
        (candidate, growth): (&Candidate, Growth),
        complaints: Vec<Complaint>,
        why: &str,
    ) -> Result<(), EngineError> {
        for complaint in self.news(complaints) {
            // Each has its own copy of the input.
            let invented = self.invent(&candidate.changes, growth)?;
            let distance = self.case.distance.max(1);
            self.add_unpredicted(&complaint, why, invented, distance);
        }
        Ok(())
    }

    /// The complaints that the twin does not have on the test's own input too.
    pub fn news(&self, complaints: Vec<Complaint>) -> Vec<Complaint> {
        let is_new = |complaint: &Complaint| {
            if complaint.kinds == [Kind::Precondition] {
                // By itself no failure: see `judge::contract`.
                return false;
            }
            let place = complaint.places.first();
            !self
                .known
                .baseline
                .iter()
                .any(|old| old.places.first() == place && old.kinds == complaint.kinds)
        };
        complaints.into_iter().filter(is_new).collect()
    }

    fn invent(&self, changes: &Model, growth: Growth) -> Result<Invented, EngineError> {
        let shared = self.trials.worker.shared;
        let (capsule, channels) = (self.case.capsule, &self.case.path.channels);
        let invented = invent(capsule, channels, changes, growth, &shared.new_directory());
        Ok(invented.map_err(|error| shared.campaign.failed(error))?)
    }
}

/// Whether one of these says that the program ended itself.
fn has_ended(complaints: &[Complaint]) -> bool {
    let mut kinds = complaints.iter().flat_map(|complaint| &complaint.kinds);
    kinds.any(|kind| kind.is_exit())
}
