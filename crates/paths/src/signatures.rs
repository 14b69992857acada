//! Distinguishes runs that share a path but concretized a value differently.
//!
//! What follows from a concretized value (how much `memset` writes, say) leaves no event: two runs of one
//! path may have done different things behind it. Their coverage shows it.

use std::collections::HashSet;

use nearmiss_abi::event::{EventKind, PHASE_FUNCTION};
use nearmiss_trace::Event;

use crate::Cover;
use crate::explorer::Arrival;
use crate::input::Channels;
use crate::measure::Measure;

/// The coverage of the runs of each path that concretized a value.
#[derive(Debug)]
pub struct CoverageSignatures {
    cover: Cover,
    /// Numbers of paths, and hashes of what their runs counted.
    known: HashSet<(usize, u64)>,
}

impl CoverageSignatures {
    /// Nothing is known yet.
    pub fn new(cover: Cover) -> CoverageSignatures {
        CoverageSignatures {
            cover,
            known: HashSet::new(),
        }
    }

    /// Whether a run is new: its path, or what it covers on a known path.
    pub fn is_new(
        &mut self,
        arrival: &Arrival,
        channels: &Channels,
        measure: Option<&Measure>,
    ) -> bool {
        let is_concretized =
            |event: &Event| event.kind == EventKind::Concretized && event.phase == PHASE_FUNCTION;
        if arrival.failed().is_some() || !arrival.events().iter().any(is_concretized) {
            return arrival.is_new;
        }
        if self.cover != Cover::Paths {
            // Each of them is counted anyway, and kept only if that shows anything new.
            return true;
        }
        let rows = arrival.recorded.input.rows(channels);
        let counted = measure.and_then(|measure| measure.ask(rows));
        let signature = counted.map_or(0, |counted| counted.gain.way);
        self.known.insert((arrival.number, signature)) || arrival.is_new
    }
}
