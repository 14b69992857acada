//! What is told of a failure: its place, its test, and an input as near to the test's own as can be.

use std::os::unix::ffi::OsStrExt;

use nearmiss_results::{Finding, Status, Test};
use nearmiss_sandbox::Stdin;

use super::Hunt;
use crate::analyse::Candidate;
use crate::capsule::Capsule;
use crate::complaint::Complaint;
use crate::confirm::{Replayer, Seen, Verdict};
use crate::defects::{self, Found};
use crate::inputs;
use crate::invent::Invented;
use crate::minimise;
use crate::spot::{self, Check};
use crate::test_case::TestCase;

impl Hunt<'_> {
    /// A finding at the place of a complaint that nobody predicted.
    pub(super) fn add_unpredicted(
        &mut self,
        replayer: &Replayer,
        complaint: &Complaint,
        why: &str,
        invented: Invented,
        distance: u32,
    ) {
        let sites = &self.subject.program.sites;
        let Some((kind, place)) = spot::of_complaint(sites, complaint) else {
            return invented.forget();
        };
        let wanted = self.lab.bench.config.checks.as_ref();
        if wanted.is_some_and(|kinds| !kinds.contains(&kind)) {
            return invented.forget();
        }
        let finding = Finding {
            kind,
            status: Status::Confirmed,
            file: place.file,
            line: place.line,
            column: place.column,
            function: place.function,
            distance,
            message: format!("{}{why}", complaint.text),
            ..self.blank()
        };
        let found = self.finish(replayer, finding, invented);
        self.add(found);
    }

    /// A finding where one was predicted, with what became of it.
    pub(super) fn predicted(
        &self,
        replayer: &Replayer,
        candidate: &Candidate,
        invented: Invented,
        verdict: &Verdict,
    ) -> Found {
        let check = &candidate.check;
        let (status, kind, message) = match &verdict.confirmed {
            Some(seen) => (Status::Confirmed, seen.kind, words(check, seen)),
            None => (
                Status::Unconfirmed,
                check.spot.kind,
                format!("{} (not confirmed: {})", check.message, verdict.doubt),
            ),
        };
        let finding = Finding {
            kind,
            status,
            file: check.spot.file.clone(),
            line: check.spot.line,
            column: check.spot.column,
            function: check.function.clone(),
            distance: self.case.distance,
            message,
            ..self.blank()
        };
        self.finish(replayer, finding, invented)
    }

    /// Brings the input of a failure that was seen as near to the test's own as replays allow, and
    /// says how the two differ.
    fn finish(&self, replayer: &Replayer, mut finding: Finding, invented: Invented) -> Found {
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
        if finding.status == Status::Confirmed {
            let mut still_fails = |contents: &[Vec<u8>]| {
                let written = inputs::write(self.case.capsule, channels, contents, &directory);
                !self.is_over()
                    && written.is_ok_and(|capsule| self.fails(replayer, &finding, &capsule))
            };
            is_nearer =
                minimise::minimise(self.case.own, channels, &mut contents, &mut still_fails);
            // The last attempt need not have been the best.
            if let Ok(best) = inputs::write(self.case.capsule, channels, &contents, &directory) {
                capsule = best;
            }
        }
        (finding.changes, finding.lengths) = match self.case.is_own() && !is_nearer {
            true => (changes, lengths),
            false => inputs::differences(self.case.own, channels, &contents),
        };
        finding.input = inputs::show(&capsule, channels, &contents, self.case.own);
        Found {
            finding,
            capsule,
            directory,
        }
    }

    /// Whether the twin fails as a finding says.
    fn fails(&self, replayer: &Replayer, finding: &Finding, capsule: &Capsule) -> bool {
        let complaints = replayer.try_twin(capsule).unwrap_or_default();
        defects::is_shown(finding, &complaints)
    }

    /// A finding about which nothing is said yet but the test.
    fn blank(&self) -> Finding {
        Finding {
            id: String::new(),
            kind: nearmiss_abi::check::Kind::Crash,
            status: Status::Unconfirmed,
            file: String::new(),
            line: 0,
            column: 0,
            function: String::new(),
            distance: 0,
            tests: 1,
            test: describe(self.case.test),
            input: Default::default(),
            changes: Vec::new(),
            lengths: Vec::new(),
            message: String::new(),
            replay: String::new(),
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

/// A test as it is reported.
pub fn describe(test: &TestCase) -> Test {
    let capsule = &test.capsule;
    Test {
        id: test.id.clone(),
        program: capsule.program.clone(),
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
