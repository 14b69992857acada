//! Runs that had to be ended: whether the program would have ended, ever.

use nearmiss_campaign::capsule::Capsule;
use nearmiss_sandbox::Exceeded;

use super::Work;
use super::derived::{Context, PendingFlip};
use super::seed::Seed;
use crate::confirmer::{Case, Confirmer, Known};
use crate::defects;
use crate::error::EngineError;
use crate::executor::Traced;
use crate::worker::tight_limits;

/// Most runs of a test that are looked at in this way: each takes as long as several others, and most of them end in
/// one and the same loop.
const MOST_LOOKS: u32 = 8;

impl Work<'_, '_> {
    /// Judges an input whose run had to be ended for its time: a program that never ends on it fails.
    pub(super) fn look_whether_it_ends(
        &self,
        seed: &mut Seed,
        context: &Context,
        capsule: &Capsule,
        traced: &Traced,
        flip: &PendingFlip,
    ) -> Result<(), EngineError> {
        let is_wanted = traced.exceeded == Some(Exceeded::Time) && self.worker.looks_for_endless();
        if !is_wanted || seed.memory.endless_looks >= MOST_LOOKS || self.is_over() {
            return Ok(());
        }
        seed.memory.endless_looks += 1;
        let complaints = self.worker.try_endless(context.subject, capsule);
        let complaints = complaints.unwrap_or_default();
        if complaints.is_empty() {
            return Ok(());
        }
        let case = Case {
            test: &seed.test,
            own: context.own,
            capsule,
            path: &traced.path,
            distance: context.extent.distance(flip.depth),
        };
        let known = Known {
            baseline: seed.baseline.as_deref().unwrap_or_default(),
            found: &seed.state.found,
            everywhere: &self.explorer.defects,
        };
        let limits = tight_limits(self.explorer.shared.config, traced.time);
        let trials = self.trials(context.subject, limits);
        let mut confirmer = Confirmer::new(trials, case, known);
        confirmer.tell_own(&complaints)?;
        let found = std::mem::take(&mut confirmer.found);
        self.add(&found)?;
        defects::take_in(&mut seed.state.found, found);
        Ok(())
    }
}
