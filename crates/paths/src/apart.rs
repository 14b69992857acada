//! Runs that fixed a value, told apart.
//!
//! What follows from a value that was fixed (how much `memset` writes, say) is decided without a word:
//! two runs of one path may have gone different ways behind it. The program that counts coverage knows.

use std::collections::HashSet;

use nearmiss_abi::event::{EventKind, PHASE_FUNCTION};
use nearmiss_trace::Event;

use crate::Cover;
use crate::explorer::Arrival;
use crate::input::Channels;
use crate::measure::Measure;

/// Knows the ways that were taken behind fixed values.
#[derive(Debug)]
pub struct Apart {
    cover: Cover,
    /// Numbers of paths, and names of what their runs counted.
    known: HashSet<(usize, u64)>,
}

impl Apart {
    /// Nothing is known yet.
    pub fn new(cover: Cover) -> Apart {
        Apart {
            cover,
            known: HashSet::new(),
        }
    }

    /// Whether a run went its own way, on a path that may be known.
    pub fn is_new(
        &mut self,
        arrival: &Arrival,
        channels: &Channels,
        measure: Option<&Measure>,
    ) -> bool {
        let is_fixed =
            |event: &Event| event.kind == EventKind::Fixed && event.phase == PHASE_FUNCTION;
        if arrival.failed().is_some() || !arrival.events().iter().any(is_fixed) {
            return arrival.is_new;
        }
        if self.cover != Cover::Paths {
            // Each of them is counted anyway, and kept only if that shows anything new.
            return true;
        }
        let rows = arrival.recorded.input.rows(channels);
        let counted = measure.and_then(|measure| measure.ask(rows));
        let way = counted.map_or(0, |counted| counted.gain.way);
        self.known.insert((arrival.number, way)) || arrival.is_new
    }
}
