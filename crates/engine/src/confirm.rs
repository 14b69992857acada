//! The new input replayed: on the program itself (does it do what was predicted?) and on its
//! sanitizer twin (does it fail?).

use std::ffi::OsString;
use std::path::Path;

use nearmiss_abi::check::Kind;
use nearmiss_abi::environment::DEFAULT_ALLOCATION;
use nearmiss_abi::event::EventKind;
use nearmiss_sandbox::{Ended, Limits, Outcome, Sandbox, SandboxError};
use nearmiss_sites::Sites;
use nearmiss_trace::Event;
use nearmiss_twin::TwinProgram;

use crate::analyse::Candidate;
use crate::capsule::{Capsule, Origin};
use crate::complaint::{self, Complaint};
use crate::lab::Lab;
use crate::spot;
use crate::subject::Subject;
use crate::symbolize::symbolize;

/// What a replay needs besides the input.
pub struct Replayer<'a> {
    /// Where runs happen.
    pub lab: &'a Lab<'a>,
    /// What a run may use up.
    pub limits: Limits,
    /// The program and its twin.
    pub subject: &'a Subject,
    /// The recorded path.
    pub events: &'a [Event],
}

/// What became of a predicted failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What the twin said, if it failed as predicted.
    pub confirmed: Option<Seen>,
    /// Whether the program left the predicted path, or did not fail where it should have.
    pub diverged: bool,
    /// Why it is not confirmed.
    pub doubt: String,
    /// What else the twin complained about.
    pub others: Vec<Complaint>,
}

/// A predicted failure that was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// What it is: a memory error may be another than was predicted.
    pub kind: Kind,
    /// What the twin said.
    pub complaint: Complaint,
}

impl Replayer<'_> {
    /// Replays an input.
    pub fn judge(&self, candidate: &Candidate, capsule: &Capsule) -> Verdict {
        let followed = self.follow(candidate, capsule);
        let fails = followed.as_ref().is_ok_and(|replayed| replayed.fails);
        let mut doubt = match &followed {
            Ok(replayed) => replayed.words(),
            Err(error) => error.clone(),
        };
        let (confirmed, others) = match self.try_twin(capsule) {
            Ok(complaints) => {
                let seen = seen(&complaints, candidate, fails);
                if seen.is_none() && fails {
                    doubt = "its sanitizer twin does not fail there".into();
                }
                (seen, complaints)
            }
            Err(why) => {
                doubt = why;
                (None, Vec::new())
            }
        };
        Verdict {
            // What lies outside an object may look like another to the program itself: then
            // only its twin can see the failure.
            diverged: followed.is_ok_and(|replayed| {
                replayed.left_at.is_some() || !replayed.fails && confirmed.is_none()
            }),
            confirmed,
            doubt,
            others,
        }
    }

    /// Runs the instrumented program on the input and compares its path with the recorded one.
    fn follow(&self, candidate: &Candidate, capsule: &Capsule) -> Result<Replayed, String> {
        let sites = &self.subject.program.sites;
        let replay = self
            .lab
            .trace(capsule, Origin::Invented, sites, &self.limits)?;
        Ok(compare(sites, self.events, candidate, &replay.path.events))
    }

    /// Runs the twin on the input; gives what it complains about.
    pub fn try_twin(&self, capsule: &Capsule) -> Result<Vec<Complaint>, String> {
        self.lab.try_twin(self.subject, capsule, &self.limits)
    }

    /// Runs the twin that sees failures of this kind.
    pub fn try_twin_of(&self, kind: Kind, capsule: &Capsule) -> Result<Vec<Complaint>, String> {
        self.lab
            .try_twin_of(kind, self.subject, capsule, &self.limits)
    }
}

/// Runs a twin with its sanitizers set to tell all and go on.
pub fn run_twin(
    sandbox: &Sandbox,
    twin: &TwinProgram,
    capsule: &Capsule,
    limits: &Limits,
) -> Result<Outcome, SandboxError> {
    let mut variables = sanitizer_variables();
    if let Some(directory) = &twin.library_path {
        variables.push(("LD_LIBRARY_PATH", library_path(directory, capsule)));
    }
    let mut outcome = sandbox.run(&capsule.spec(&twin.program, &variables, limits))?;
    outcome.stderr = symbolize(outcome.stderr, twin);
    Ok(outcome)
}

/// The environment in which sanitizers tell all and go on.
pub fn sanitizer_variables() -> Vec<(&'static str, OsString)> {
    vec![
        ("ASAN_OPTIONS", address_options().into()),
        (
            "UBSAN_OPTIONS",
            "print_stacktrace=1:halt_on_error=0:color=never".into(),
        ),
        ("MSAN_OPTIONS", memory_options().into()),
    ]
}

/// What a twin that ran somewhere else complains about.
pub fn complaints_of(stderr: Vec<u8>, ended: Ended, twin: &TwinProgram) -> Vec<Complaint> {
    complaint::complaints(&symbolize(stderr, twin), ended)
}

/// Bytes around allocations that AddressSanitizer watches, at least: what leaves an object by
/// more than that may end up in another.
const RED_ZONE: u32 = 128;

/// Every signal that a program dies of is told with its place. Allocations beyond the limit fail in the twin as they do in the instrumented program. Source
/// lines are looked up here, by [`symbolize`]. Two variables of one name are no failure on an input,
/// and looking for them takes a tenth of the time of a short run.
fn address_options() -> String {
    let most = DEFAULT_ALLOCATION >> 20;
    format!(
        "detect_leaks=0:detect_odr_violation=0:abort_on_error=0:handle_abort=1:handle_sigill=1:handle_sigtrap=1:dump_registers=0:allocator_may_return_null=1:\
         max_allocation_size_mb={most}:redzone={RED_ZONE}:color=never:symbolize=0"
    )
}

/// As far as it can be, the memory twin does what the program does; how it dies is said by the other one.
/// `memcmp` depends on the bytes up to the first that differ.
fn memory_options() -> String {
    let most = DEFAULT_ALLOCATION >> 20;
    format!(
        "allocator_may_return_null=1:max_allocation_size_mb={most}:strict_memcmp=0:handle_segv=0:\
         handle_sigbus=0:handle_sigfpe=0:color=never:symbolize=0"
    )
}

/// The twin's libraries before those that the program's environment names.
fn library_path(directory: &Path, capsule: &Capsule) -> OsString {
    let mut path: OsString = directory.into();
    let known = capsule
        .environment
        .iter()
        .find(|(name, _)| name == "LD_LIBRARY_PATH");
    if let Some((_, value)) = known {
        path.push(":");
        path.push(value);
    }
    path
}

/// The complaint that is the predicted failure: at its very column, else on its line.
fn seen(complaints: &[Complaint], candidate: &Candidate, fails: bool) -> Option<Seen> {
    let spot = &candidate.check.spot;
    let of = |complaint: &Complaint| {
        let kind = kind_seen(complaint, candidate, fails)?;
        let complaint = complaint.clone();
        Some(Seen { kind, complaint })
    };
    let mut exact = complaints
        .iter()
        .filter(|one| one.is_exactly_at(&spot.file, spot.line, spot.column));
    exact
        .find_map(of)
        .or_else(|| complaints.iter().find_map(of))
}

/// What happened, if a complaint of the twin is the predicted failure. One without a place
/// counts only if the instrumented program failed where it was to fail.
fn kind_seen(complaint: &Complaint, candidate: &Candidate, fails: bool) -> Option<Kind> {
    let spot = &candidate.check.spot;
    let is_here = match complaint.places.is_empty() {
        true => fails && complaint.kinds.contains(&spot.kind),
        false => complaint.names(&spot.file, spot.line),
    };
    let kind = complaint.as_kind(spot.kind);
    kind.filter(|_| is_here)
}

/// How a replay went.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Replayed {
    /// It failed at the predicted place.
    fails: bool,
    /// The number of the first event that was not as predicted.
    left_at: Option<usize>,
}

impl Replayed {
    fn words(&self) -> String {
        match (self.fails, self.left_at) {
            (true, _) => String::new(),
            (false, Some(number)) => {
                format!("its replay left the predicted path at event {number}")
            }
            (false, None) => "its replay did not fail there".into(),
        }
    }
}

/// Compares a replay with the recorded path up to the predicted failure. Failures on concrete
/// data are not compared: they have no place of their own in the order. Neither are
/// assumptions: a longer input has more of them. A replay may be shorter: what a program does between its last call and its death is recorded only if the
/// death comes after.
fn compare(sites: &Sites, recorded: &[Event], candidate: &Candidate, replay: &[Event]) -> Replayed {
    let is_compared = |event: &&Event| {
        event.implied.is_none() && !matches!(event.kind, EventKind::CheckFailed | EventKind::Assume)
    };
    let step = |event: &Event| (event.kind, event.site, event.choice);
    let predicted = recorded[..candidate.event]
        .iter()
        .filter(is_compared)
        .map(step);
    let taken = replay.iter().filter(is_compared).map(step);
    let left_at = predicted
        .zip(taken)
        .position(|(predicted, taken)| predicted != taken);
    let place = |event: &Event| {
        let check = spot::check(sites, event.site, event.failure)?;
        Some((check.spot.file, check.spot.line, check.spot.column))
    };
    let spot = &candidate.check.spot;
    let expected = Some((spot.file.clone(), spot.line, spot.column));
    let is_here = |event: &Event| event.site == candidate.site || place(event) == expected;
    Replayed {
        fails: replay
            .iter()
            .any(|event| event.is_failure() && is_here(event)),
        left_at,
    }
}
