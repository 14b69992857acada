//! What is told of a failure: its place, its test, and an input as near to the test's own as can be.

use std::os::unix::ffi::OsStrExt;

use nearmiss_abi::check::Kind;
use nearmiss_campaign::capsule::Capsule;
use nearmiss_campaign::test_case::TestCase;
use nearmiss_judge::minimise::{MOST_ATTEMPTS, Minimise};
use nearmiss_judge::spot::{self, Check};
use nearmiss_judge::{Complaint, Verdict, identity, nearness};
use nearmiss_results::{Finding, Status, Test};
use nearmiss_sandbox::Stdin;

use super::Confirmer;
use crate::analyse::Candidate;
use crate::calls;
use crate::defects::Found;
use crate::inputs;
use crate::invent::Invented;

/// Most attempts to bring an input nearer on which the program never ends: each takes a second.
const ENDLESS_ATTEMPTS: usize = 16;

impl Confirmer<'_> {
    /// A finding at the place of a complaint that nobody predicted.
    pub(super) fn add_unpredicted(
        &mut self,
        complaint: &Complaint,
        why: &str,
        invented: Invented,
        distance: u32,
    ) {
        let Some(finding) = self.seen(complaint, distance) else {
            return invented.forget();
        };
        let known = self.known_as(&finding);
        if known.is_some_and(is_nearest) {
            return invented.forget();
        }
        let words = |complaint: &Complaint| format!("{}{why}", complaint.text);
        let found = self.finish(finding, Some(complaint), &words, invented);
        self.add(found);
    }

    /// A finding at the place of a complaint, if that is in the program and of a kind that is wanted.
    pub(super) fn seen(&self, complaint: &Complaint, distance: u32) -> Option<Finding> {
        let sites = &self.trials.subject.program.sites;
        let (kind, place) = spot::of_complaint(sites, complaint)?;
        if kind == Kind::Precondition {
            // By itself no failure: see `judge::contract`.
            return None;
        }
        let wanted = self.trials.worker.shared.config.checks.as_ref();
        if wanted.is_some_and(|kinds| !kinds.contains(&kind)) {
            return None;
        }
        Some(Finding {
            kind,
            status: Status::Confirmed,
            file: place.file,
            line: place.line,
            column: place.column,
            function: place.function,
            distance,
            stack: spot::stack(sites, complaint),
            object: complaint.object.clone(),
            ..Finding::new(describe(self.case.test))
        })
    }

    /// A finding where one was predicted, with what became of it.
    pub(super) fn predicted(
        &self,
        candidate: &Candidate,
        invented: Invented,
        verdict: &Verdict,
    ) -> Found {
        let check = &candidate.check;
        let confirmed = verdict.confirmed.as_ref();
        let mut finding = Finding {
            kind: check.spot.kind,
            file: check.spot.file.clone(),
            line: check.spot.line,
            column: check.spot.column,
            function: check.function.clone(),
            distance: self.case.distance,
            message: format!("{} (not confirmed: {})", check.message, verdict.doubt),
            ..Finding::new(describe(self.case.test))
        };
        if let Some(seen) = confirmed {
            finding.status = Status::Confirmed;
            finding.kind = seen.kind;
            // Several checks may foresee what shows as one failure: that has one place.
            let mut places = seen.complaint.places.iter();
            let place = places.find(|place| place.is_at(&check.spot.file, check.spot.line));
            let column = place.map_or(0, |place| place.column);
            finding.column = if column == 0 { finding.column } else { column };
            self.go_on_to_the_end(&mut finding, &seen.complaint);
        }
        let kind = finding.kind;
        let words = |complaint: &Complaint| words(check, kind, complaint);
        let complaint = confirmed.map(|seen| &seen.complaint);
        self.finish(finding, complaint, &words, invented)
    }

    /// A branch to `abort` or the like is a check, but the program's own code goes on up to the call:
    /// where it really ended may lie in a function that it called before.
    fn go_on_to_the_end(&self, finding: &mut Finding, complaint: &Complaint) {
        let end = spot::of_complaint(&self.trials.subject.program.sites, complaint);
        let Some((kind, place)) = end.filter(|(kind, _)| kind.is_exit()) else {
            return;
        };
        if finding.kind.is_exit() && !place.is_at(&finding.file, finding.line) {
            finding.kind = kind;
            finding.file = place.file;
            finding.line = place.line;
            finding.column = place.column;
            finding.function = place.function;
        }
    }

    /// Brings the input of a failure that was seen as near to the test's own as replays allow, and
    /// says how the two differ.
    fn finish(
        &self,
        mut finding: Finding,
        complaint: Option<&Complaint>,
        words: &dyn Fn(&Complaint) -> String,
        invented: Invented,
    ) -> Found {
        let Invented {
            mut capsule,
            mut contents,
            changes,
            lengths,
            directory,
            ..
        } = invented;
        let channels = &self.case.path.channels;
        let mut is_nearer = false;
        let mut complaint = complaint.cloned();
        if finding.status == Status::Confirmed {
            let attempts = match finding.kind {
                _ if self.is_settled(&finding, complaint.as_ref(), &contents) => 0,
                Kind::Hang => ENDLESS_ATTEMPTS,
                _ => MOST_ATTEMPTS,
            };
            let mut still_fails = |contents: &[Vec<u8>]| {
                let written = inputs::write(self.case.capsule, channels, contents, &directory);
                let again = written.ok().filter(|_| !self.trials.is_over());
                let again = again.and_then(|capsule| self.fails(&finding, &capsule));
                let fails = again.is_some();
                // What is told belongs to the input that is shown.
                complaint = again.or(complaint.take());
                fails
            };
            let minimise = Minimise::new(self.case.own, channels, &mut still_fails);
            is_nearer = minimise.at_most(attempts).run(&mut contents);
            // The last attempt need not have been the best.
            if let Ok(best) = inputs::write(self.case.capsule, channels, &contents, &directory) {
                capsule = best;
            }
        }
        if let Some(complaint) = &complaint {
            let sites = &self.trials.subject.program.sites;
            finding.message = words(complaint);
            finding.stack = spot::stack(sites, complaint);
            finding.object = complaint.object.clone();
        }
        (finding.changes, finding.lengths) = match self.case.is_own() && !is_nearer {
            true => (changes, lengths),
            false => nearness::differences(self.case.own, channels, &contents),
        };
        finding.input = inputs::show(&capsule, channels, &contents, self.case.own);
        finding.test.calls = calls::shown(&finding.test.calls, self.case.own, channels, &contents);
        Found {
            finding,
            capsule,
            directory,
        }
    }

    /// Whether a failure is known from other tests, by inputs that are as near.
    fn is_settled(
        &self,
        finding: &Finding,
        complaint: Option<&Complaint>,
        contents: &[Vec<u8>],
    ) -> bool {
        let Some(complaint) = complaint else {
            return false;
        };
        let seen = Finding {
            stack: spot::stack(&self.trials.subject.program.sites, complaint),
            object: complaint.object.clone(),
            ..finding.clone()
        };
        let cost = nearness::of_contents(self.case.own, &self.case.path.channels, contents);
        let defects = self.known.everywhere.lock().expect("no thread panics");
        defects.is_settled(&seen, cost)
    }

    /// What the twin says, if it fails as a finding says. Without an answer the input stays as it is.
    fn fails(&self, finding: &Finding, capsule: &Capsule) -> Option<Complaint> {
        let complaints = self.trials.twin_of(finding.kind, capsule).ok()?;
        identity::shown(finding, &complaints)
    }
}

/// Whether no other input that fails can be nearer to the test's: one byte differs, or none.
fn is_nearest(finding: &Finding) -> bool {
    finding.status == Status::Confirmed && nearness::of_finding(finding) <= 1
}

/// What happened, for a person: what was predicted and what was seen, where they agree.
fn words(check: &Check, kind: Kind, complaint: &Complaint) -> String {
    let text = &complaint.text;
    let agree = check.spot.kind == kind && text.starts_with("AddressSanitizer");
    match agree {
        true => format!("{} ({text})", check.message),
        false => text.clone(),
    }
}

/// A test as it is reported.
pub fn describe(test: &TestCase) -> Test {
    let capsule = &test.capsule;
    Test {
        id: test.id.clone(),
        calls: test.calls.clone(),
        program: test.program().to_path_buf(),
        argv: capsule.arguments.iter().map(show_argument).collect(),
        cwd: capsule.directory.clone(),
        stdin: match &capsule.stdin {
            Stdin::Null => None,
            Stdin::File(path) | Stdin::Pipe(path) => Some(path.clone()),
        },
        ended: test.ended.clone(),
        trace: test.trace.clone().unwrap_or_default(),
    }
}

/// An argument as text.
pub fn show_argument(argument: &std::ffi::OsString) -> String {
    match argument.to_str() {
        Some(text) => text.to_string(),
        None => argument.as_bytes().escape_ascii().to_string(),
    }
}
