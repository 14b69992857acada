//! Where a run need not go on: ways from which what it was made for cannot be reached.
//!
//! The file that [`crate::environment::DEAD_ENDS`] names has one word, the phase that a run begins with
//! (`abi::event::PHASE_*`), then rows in the order of sites and steps.

use crate::event::{FORBIDDEN_STEP, PHASE_FUNCTION};

/// Ways that lead nowhere, of one site after so many steps towards the target.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeadEnd {
    /// The site.
    pub site: u64,
    /// How many steps were passed.
    pub steps: u64,
    /// One bit for each way: of a branch 0 is false and 1 true. All of them, if the site itself lies where
    /// nothing leads to the target.
    pub ways: u64,
}

impl DeadEnd {
    /// Every way.
    pub const ALL: u64 = u64::MAX;

    /// As the file has it.
    pub fn to_bytes(self) -> [u8; 24] {
        let mut bytes = [0; 24];
        bytes[..8].copy_from_slice(&self.site.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.steps.to_le_bytes());
        bytes[16..].copy_from_slice(&self.ways.to_le_bytes());
        bytes
    }
}

/// Whether the target cannot be reached behind an event at a site that went this way, in this phase and after so many
/// steps. `way` is `None` where it is not known: at a switch.
// Part of the runtime itself: another object of this crate would bring the standard library's messages along.
#[inline]
pub fn is_dead(rows: &[DeadEnd], site: u64, phase: u16, steps: u8, way: Option<u32>) -> bool {
    if phase != PHASE_FUNCTION {
        return false;
    }
    if steps == FORBIDDEN_STEP {
        return true;
    }
    let wanted = (site, u64::from(steps));
    let found = rows.binary_search_by_key(&wanted, |row| (row.site, row.steps));
    let row = found.ok().and_then(|index| rows.get(index));
    row.is_some_and(|row| match (row.ways, way) {
        (DeadEnd::ALL, _) => true,
        (ways, Some(way)) => ways.checked_shr(way).unwrap_or(0) & 1 == 1,
        (_, None) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_is_dead_after_the_steps_that_its_row_names() {
        let row = |site, steps, ways| DeadEnd { site, steps, ways };
        let rows = [row(3, 0, 0b10), row(3, 1, DeadEnd::ALL), row(9, 0, 0b01)];
        let is_dead = |site, steps, way| super::is_dead(&rows, site, PHASE_FUNCTION, steps, way);
        assert!(is_dead(3, 0, Some(1)) && !is_dead(3, 0, Some(0)) && !is_dead(3, 0, None));
        assert!(is_dead(3, 1, Some(0)) && is_dead(3, 1, None));
        assert!(is_dead(9, 0, Some(0)) && !is_dead(9, 1, Some(0)) && !is_dead(4, 0, Some(0)));
        assert!(is_dead(4, FORBIDDEN_STEP, Some(0)));
        assert!(
            !super::is_dead(&rows, 3, 1, 0, Some(1)),
            "in the precondition"
        );
    }
}
