//! Forks of a test's own path that are far from every sensitive operation.
//!
//! A fork is flipped when its distance has its turn, and on a long path that may be never: one byte of a header may
//! be all that a failure needs, with hundreds of decisions behind it. So each time that derived paths have their turn a few
//! forks of the own path go into the same pool, of every place in the program one before another one's second.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use nearmiss_abi::site::SiteId;
use nearmiss_search::Feasibility;
use nearmiss_trace::Event;

use super::Work;
use super::derived::PendingFlip;
use super::seed::Seed;
use super::tree::is_fork;
use crate::analyse::can_flip;
use crate::subject::Subject;

/// Forks that are asked about at a time.
const AT_ONCE: usize = 32;

impl Work<'_, '_> {
    /// The flips of the next forks of the test's own path, whatever their distance.
    pub(super) fn far_flips(&self, seed: &mut Seed, subject: &Subject) -> Vec<PendingFlip> {
        if seed.memory.has_asked_all {
            return Vec::new();
        }
        let (flips, asked) = self.next_flips(seed, subject, &|_: &Event| true);
        seed.memory.has_asked_all = asked < AT_ONCE;
        flips
    }

    /// The flips of the next forks whose other outcome no run had.
    pub(super) fn unseen_flips(&self, seed: &mut Seed, subject: &Subject) -> Vec<PendingFlip> {
        let pool = std::mem::take(&mut seed.memory.pool);
        let (flips, _) = self.next_flips(seed, subject, &|event| pool.may_be_unseen(event));
        seed.memory.pool = pool;
        flips
    }

    /// The flips of the next of the forks that are wanted, and how many of these were asked about.
    fn next_flips(
        &self,
        seed: &mut Seed,
        subject: &Subject,
        is_wanted: &dyn Fn(&Event) -> bool,
    ) -> (Vec<PendingFlip>, usize) {
        if seed.stuck.is_some() {
            return Default::default();
        }
        let Some(mut route) = self.own_route(seed, subject) else {
            return Default::default();
        };
        let events = &route.traced.path.events;
        let these = next_forks(events, &seed.state.progress.forks, is_wanted);
        self.ask_own(seed, subject, &mut route, these.clone());
        let (parent, flips) = (route.parent(), &seed.memory.flips);
        let of_event = |event: &usize| {
            let flips = flips.get(event).map_or(&[][..], Vec::as_slice);
            parent.flips_of(*event, flips, 1, &route.channels)
        };
        (these.iter().flat_map(of_event).collect(), these.len())
    }
}

/// Forks that were not asked about: those at places of which the fewest were, the first ones first.
fn next_forks(
    events: &[Event],
    known: &BTreeMap<usize, Feasibility>,
    is_wanted: &dyn Fn(&Event) -> bool,
) -> BTreeSet<usize> {
    let mut asked: HashMap<SiteId, usize> = HashMap::new();
    for event in known.keys().filter_map(|&number| events.get(number)) {
        *asked.entry(event.site).or_default() += 1;
    }
    let forks = events.iter().enumerate();
    let open = forks.filter(|(number, event)| {
        is_fork(event) && can_flip(event) && !known.contains_key(number) && is_wanted(event)
    });
    let mut ranked: Vec<(usize, usize)> = open
        .map(|(number, event)| {
            let before = asked.entry(event.site).or_default();
            *before += 1;
            (*before, number)
        })
        .collect();
    ranked.sort_unstable();
    ranked
        .into_iter()
        .take(AT_ONCE)
        .map(|(_, number)| number)
        .collect()
}
