//! Why an exploration may not know everything.

use std::sync::atomic::Ordering;

use nearmiss_abi::site::SiteId;

use crate::arrivals::{Arrivals, Finished};
use crate::explorer::Explorer;
use crate::findings::HARNESS;
use crate::judge::Judged;
use crate::measure::Measured;
use crate::study::Study;

/// An exploration that has ended, looked at for what it left out.
pub struct Gaps<'a, 's, 'l> {
    /// What was done.
    pub study: &'a Study<'s>,
    /// How far it came.
    pub arrivals: &'a Arrivals<'l>,
}

impl<'l> Gaps<'_, '_, 'l> {
    fn explorer(&self) -> &Explorer<'l> {
        &self.arrivals.explorer
    }

    /// A sentence for each reason; none if everything is known.
    pub fn words(&self, judged: &Judged, measured: &Measured) -> Vec<String> {
        let mut reasons = Vec::new();
        // What was wanted is there; other paths do not matter.
        if !self.study.is_covered {
            reasons.extend(self.end());
            reasons.extend(self.counts());
            reasons.extend(self.missing());
            reasons.extend(self.narrowed());
            reasons.extend(self.assembly());
            if self.study.has_handlers && !self.study.failed_before.is_empty() {
                reasons.push(BEHIND_FAILURE.into());
            }
            if self.study.leads_behind_return {
                reasons.push(BEHIND_RETURN.into());
            }
            reasons.extend(self.losses());
        }
        if let Some(trouble) = &judged.trouble {
            reasons.push(format!(
                "not every test was run on the sanitizer twin: {trouble}"
            ));
        }
        if let Some(trouble) = &measured.trouble {
            reasons.push(format!("what all tests cover was not counted: {trouble}"));
        }
        reasons
    }

    /// It ended before its time, or because that was over.
    fn end(&self) -> Option<String> {
        let open = self.arrivals.open();
        let stopped = self.study.config.stop.load(Ordering::Relaxed);
        let why = match self.arrivals.finished() {
            Some(Finished::OutOfTime | Finished::Stopped) if open > 0 && stopped => {
                "it was stopped"
            }
            Some(Finished::OutOfTime) if self.explorer().workspace.budget.memory.is_reached() => {
                "the memory was used up (--memory)"
            }
            Some(Finished::OutOfTime) => {
                let words = "the time was over with";
                return Some(format!("{words} {open} partial paths undecided (--time)"));
            }
            Some(Finished::Stopped) if open > 0 => {
                "there were as many paths as wanted (--max-paths)"
            }
            _ => return None,
        };
        Some(format!("{why}, with {open} partial paths undecided"))
    }

    /// What went wrong, and how often.
    fn counts(&self) -> impl Iterator<Item = String> {
        let (tree, collection) = (&self.explorer().tree, &self.study.collection);
        let numbers = [
            (tree.unknown, TOO_HARD),
            (tree.bounded, BOUNDED),
            (tree.diverged, DIVERGED),
            (collection.damaged, DAMAGED),
            (collection.unexplained, UNEXPLAINED),
            (collection.endless, ENDLESS),
            (self.study.rejected, REJECTED),
            (
                self.explorer().workspace.solver.statistics().wrong_models,
                WRONG,
            ),
        ];
        let words = numbers.map(|(number, (one, many))| match number {
            0 => None,
            1 => Some(format!("1 {one}")),
            _ => Some(format!("{number} {many}")),
        });
        words.into_iter().flatten()
    }

    /// Functions that no file defines.
    fn missing(&self) -> impl Iterator<Item = String> {
        let guide = self.explorer().guide.as_ref();
        let matters = move |name: &str| guide.is_none_or(|guide| guide.matters_behind(name));
        let missing = self.study.collection.missing.iter();
        let missing = missing.filter(move |(name, _)| matters(name));
        missing.map(|(name, runs)| {
            format!(
                "{runs} paths end where {name} is called, which no file defines: give the one that does"
            )
        })
    }

    /// Addresses and sizes with more values than were tried.
    fn narrowed(&self) -> impl Iterator<Item = String> {
        self.explorer().tree.narrowed.iter().map(|&site| {
            let place = self.place(site);
            format!("{place}: only some values of an address or size were tried")
        })
    }

    /// Functions that nothing follows.
    fn assembly(&self) -> Option<String> {
        let mut units = self.explorer().workspace.sites.units();
        let has_some = units.any(|unit| unit.has_assembly);
        has_some.then(|| "functions that are written in assembly are not followed".into())
    }

    /// What was lost on the way. What the harness itself loses are inputs that cannot be symbolic.
    fn losses(&self) -> Vec<String> {
        let sites = self.study.collection.notes.keys().map(|(_, site)| *site);
        let (harness, places): (Vec<SiteId>, Vec<SiteId>) = sites.partition(|site| {
            let known = self.explorer().workspace.sites.get(*site);
            known.is_some_and(|(unit, site)| is_harness(unit.files.get(site.file as usize)))
        });
        let mut reasons = Vec::new();
        if !harness.is_empty() {
            reasons.push(
                "inputs that are no integers have one value only: other paths may need others"
                    .into(),
            );
        }
        if !places.is_empty() {
            let words = "(see the notes): other paths may lie behind";
            reasons.push(match places.len() {
                1 => format!("input data was lost at 1 place {words} it"),
                places => format!("input data was lost at {places} places {words} them"),
            });
        }
        reasons
    }

    /// The file and line of a site.
    pub fn place(&self, id: SiteId) -> String {
        match self.explorer().workspace.sites.get(id) {
            Some((unit, site)) => format!("{}:{}", unit.file_of(site), site.line),
            None => "somewhere".into(),
        }
    }
}

/// Whether a file is the one that nearmiss has written around the function.
pub fn is_harness(file: Option<&String>) -> bool {
    file.is_some_and(|file| file.ends_with(HARNESS))
}

const BEHIND_FAILURE: &str = "a run failed before it came to the target, and a handler of the signal that ends it may come there: \
    that is not looked at";

const BEHIND_RETURN: &str = "behind the function's return, at the program's end, a destructor or a handler of `atexit` \
    may come there: that is not looked at";

/// The words for one of a kind, and for several.
type Words = (&'static str, &'static str);

const TOO_HARD: Words = (
    "question about a partial path was too hard for its time (--query-time)",
    "questions about partial paths were too hard for their time (--query-time)",
);
const BOUNDED: Words = (
    "partial path lies beyond the bounds on loops and recursion",
    "partial paths lie beyond the bounds on loops and recursion",
);
const DIVERGED: Words = (
    "run left the predicted path",
    "runs left the predicted path",
);
const DAMAGED: Words = (
    "recording stopped early or contradicts itself",
    "recordings stopped early or contradict themselves",
);
const UNEXPLAINED: Words = (
    "run died before the check was recorded that would say why: other paths may lie behind it",
    "runs died before the checks were recorded that would say why: other paths may lie behind them",
);
const ENDLESS: Words = (
    "run did not end in time (--run-time)",
    "runs did not end in time (--run-time)",
);
const REJECTED: Words = (
    "test was rejected by the precondition",
    "tests were rejected by the precondition",
);
const WRONG: Words = (
    "answer of the solver was wrong: please report this",
    "answers of the solver were wrong: please report this",
);
