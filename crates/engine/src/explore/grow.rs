//! The stage of longer inputs: what repeats in a test's input is repeated more often, and the twin decides.
//!
//! Nothing is predicted of such runs, so none of them is a divergence; only what was seen to fail is told.

use std::cell::RefCell;

use nearmiss_abi::check::Kind;
use nearmiss_judge::Complaint;
use nearmiss_judge::complaint::Place;
use nearmiss_sandbox::Limits;

use super::Work;
use super::neighbours::OwnRoute;
use super::seed::Seed;
use crate::confirmer::{Case, Confirmer, Known};
use crate::defects;
use crate::error::EngineError;
use crate::growth::trial::{Attempt, Ladder};
use crate::growth::{Growing, growing};
use crate::inputs;
use crate::subject::Subject;
use crate::worker::{TwinAnswer, tight_limits};

/// What tells failures apart while the least input that shows one is looked for.
type FailureName = (Vec<Kind>, Option<Place>);

/// Frames of the twin are larger than the program's: that its stack is used up says little of the program.
const STACK_USED_UP: &str = "stack-overflow";

impl Work<'_, '_> {
    /// Tries what may grow, one after the other, until all was tried or the unit's time is over.
    pub(super) fn grow(&self, seed: &mut Seed) -> Result<(), EngineError> {
        if self.is_over() {
            return Ok(());
        }
        let capsule = &seed.test.capsule;
        let subjects = &self.explorer.subjects;
        let Ok(subject) = subjects.get(&capsule.program, &capsule.environment) else {
            return Ok(());
        };
        let Some(route) = self.own_route(seed, &subject) else {
            return Ok(());
        };
        self.judge_own_once(seed, &subject, &route.traced)?;
        let traced = &route.traced;
        let sites = &subject.program.sites;
        let all = growing(
            &traced.path,
            &traced.terms,
            sites,
            &seed.test.capsule.arguments,
        );
        let limits = tight_limits(self.explorer.shared.config, traced.time);
        let capsule = &seed.test.capsule;
        let own = match all.is_empty() {
            true => None,
            false => (self.worker).ask_twin(&subject, capsule, &limits).ok(),
        };
        if let Some(own) = own {
            while let Some(one) = all.get(seed.state.progress.grown) {
                self.try_to_grow(seed, &subject, &route, one, &own, &limits)?;
                if self.is_over() {
                    return self.save(seed);
                }
                seed.state.progress.grown += 1;
            }
        }
        seed.state.progress.grown_to = Some(self.explorer.shared.config.grow);
        self.save(seed)
    }

    /// Tries one thing: more and more of it, then the least that fails.
    fn try_to_grow(
        &self,
        seed: &mut Seed,
        subject: &Subject,
        route: &OwnRoute,
        growing: &Growing,
        own: &TwinAnswer,
        limits: &Limits,
    ) -> Result<(), EngineError> {
        let shared = self.explorer.shared;
        let (capsule, channels) = (&seed.test.capsule, &route.traced.path.channels);
        let case = Case {
            test: &seed.test,
            own: &route.channels,
            capsule,
            path: &route.traced.path,
            distance: 1,
        };
        let known = Known {
            baseline: seed.baseline.as_deref().unwrap_or_default(),
            found: &seed.state.found,
        };
        let mut confirmer = Confirmer::new(self.trials(subject, limits.clone()), case, known);
        let directory = shared.new_directory();
        let seen: RefCell<Vec<(FailureName, Complaint)>> = RefCell::default();
        let mut attempt = |turns: u64| {
            if self.is_over() {
                return None;
            }
            let longer = growing.grown(channels, &capsule.arguments, turns);
            let written = inputs::write_longer(capsule, channels, &longer, &directory);
            let answer = (self.worker)
                .ask_twin(subject, &written.ok()?, limits)
                .ok()?;
            let answers_otherwise = answers_otherwise(&answer, own);
            let mut failures = Vec::new();
            for complaint in confirmer.news(answer.complaints) {
                let name = name(&complaint);
                if complaint.text.contains(STACK_USED_UP) {
                    continue;
                }
                failures.push(name.clone());
                seen.borrow_mut().push((name, complaint));
            }
            Some(Attempt {
                failures,
                answers_otherwise,
            })
        };
        let most = growing.most_turns(channels, &capsule.arguments, shared.config.grow);
        // What can be no nearer than what is known is not looked for.
        let size = growing.size(&capsule.arguments) as u64;
        let is_wanted = |failure: &FailureName, least: u64| {
            let seen = seen.borrow();
            let it = seen.iter().find(|(name, _)| name == failure);
            let known = it.and_then(|(_, complaint)| confirmer.known_cost(complaint));
            known.is_none_or(|cost| cost > size * least)
        };
        let found = Ladder::new(&mut attempt).climb(most, &is_wanted);
        let _ = std::fs::remove_dir_all(&directory);
        for (failure, turns) in found {
            confirmer.tell_longer(growing, turns, &|it| name(it) == failure)?;
        }
        let found = std::mem::take(&mut confirmer.found);
        self.add(&found)?;
        defects::take_in(&mut seed.state.found, found);
        Ok(())
    }
}

fn name(complaint: &Complaint) -> FailureName {
    (complaint.kinds.clone(), complaint.places.first().cloned())
}

/// Whether a program ended otherwise, or complained where it did not before.
fn answers_otherwise(answer: &TwinAnswer, own: &TwinAnswer) -> bool {
    (answer.ended, answer.exceeded.is_some(), answer.is_silent)
        != (own.ended, own.exceeded.is_some(), own.is_silent)
}
