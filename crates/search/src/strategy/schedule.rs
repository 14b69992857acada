//! The order of work on many seeds: ZESTI's distances first, then ever deeper around each.
//!
//! ```text
//!  level   0          1        2        3          4        5          6        7          8
//!  stage   own path   growth   unseen   distance 1 deeper 1 distance 2 deeper 2 distance 3 deeper 3 …
//! ```
//!
//! Which seeds have the stage of what was not seen before, and with which distance their stages of derived paths begin, is the
//! caller's affair.
//!
//! All seeds have their turn at one level before any has one at the next. What was not finished in
//! its share of the time has its next round a distance later, so that it does not keep others from
//! theirs; what is postponed comes behind everything.

use std::collections::{BTreeMap, BTreeSet};

use super::Strategy;

/// Distances that are explored before the paths that were found become starting points.
pub const FIRST_DISTANCES: u32 = 2;

/// What is done with a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Every check on its own path.
    OwnPath,
    /// Longer inputs of its shape.
    Growth,
    /// The paths that are to have an outcome which no run had.
    Unseen,
    /// The paths that leave its own at divergence points of this distance.
    Neighbours(u32),
    /// The paths that leave those that were found, once this distance has had its turn.
    Deeper(u32),
}

impl Stage {
    fn level(self) -> u32 {
        match self {
            Stage::OwnPath => 0,
            Stage::Growth => 1,
            Stage::Unseen => 2,
            Stage::Neighbours(distance) => distance.saturating_mul(2).saturating_add(1),
            Stage::Deeper(distance) => distance.saturating_mul(2).saturating_add(2),
        }
    }
}

/// One stage of one seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unit {
    /// Comes behind all that is not.
    pub is_postponed: bool,
    /// What is done.
    pub stage: Stage,
    /// How often it was begun and not finished.
    pub round: u32,
    /// When the seed has its turn among the others.
    pub turn: usize,
    /// The seed's number.
    pub seed: usize,
}

/// Units that are worked off together: each gets a share of the time.
type Peers = (bool, u32, u32);

impl Unit {
    fn peers(&self) -> Peers {
        let later = match self.stage {
            Stage::OwnPath => 0,
            _ => self.round.saturating_mul(2),
        };
        let level = self.stage.level().saturating_add(later);
        (self.is_postponed, level, self.round)
    }
}

/// A worklist of units by level, round and turn.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    units: BTreeSet<(Peers, usize, Unit)>,
    peers: BTreeMap<Peers, usize>,
}

impl Schedule {
    /// How many units wait for the same share of the time as this one.
    pub fn peers_of(&self, unit: &Unit) -> usize {
        self.peers.get(&unit.peers()).copied().unwrap_or(0)
    }
}

impl Strategy<Unit> for Schedule {
    fn add(&mut self, unit: Unit) {
        let peers = unit.peers();
        if self.units.insert((peers, unit.turn, unit)) {
            *self.peers.entry(peers).or_default() += 1;
        }
    }

    fn next(&mut self) -> Option<Unit> {
        let (peers, _, unit) = self.units.pop_first()?;
        *self.peers.get_mut(&peers)? -= 1;
        Some(unit)
    }

    fn len(&self) -> usize {
        self.units.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(stage: Stage, round: u32, seed: usize) -> Unit {
        Unit {
            is_postponed: false,
            stage,
            round,
            turn: seed,
            seed,
        }
    }

    #[test]
    fn all_seeds_have_a_distance_before_any_has_the_next() {
        let mut schedule = Schedule::default();
        let stages = [
            Stage::Neighbours(3),
            Stage::Deeper(2),
            Stage::Neighbours(2),
            Stage::OwnPath,
            Stage::Growth,
            Stage::Deeper(3),
            Stage::Unseen,
            Stage::Neighbours(1),
        ];
        for stage in stages {
            for seed in [1, 0] {
                schedule.add(unit(stage, 0, seed));
            }
        }
        let order: Vec<(Stage, usize)> = std::iter::from_fn(|| schedule.next())
            .map(|unit| (unit.stage, unit.seed))
            .collect();
        let expected = [
            Stage::OwnPath,
            Stage::Growth,
            Stage::Unseen,
            Stage::Neighbours(1),
            Stage::Neighbours(2),
            Stage::Deeper(2),
            Stage::Neighbours(3),
            Stage::Deeper(3),
        ];
        let expected: Vec<(Stage, usize)> = (expected.into_iter())
            .flat_map(|stage| [(stage, 0), (stage, 1)])
            .collect();
        assert_eq!(order, expected);
    }

    #[test]
    fn what_is_unfinished_comes_a_distance_later_and_what_is_postponed_last() {
        let mut schedule = Schedule::default();
        schedule.add(unit(Stage::Neighbours(1), 1, 0));
        schedule.add(unit(Stage::Neighbours(1), 2, 3));
        schedule.add(unit(Stage::Neighbours(1), 0, 1));
        schedule.add(unit(Stage::Neighbours(2), 0, 1));
        schedule.add(unit(Stage::Deeper(2), 0, 4));
        schedule.add(Unit {
            is_postponed: true,
            ..unit(Stage::OwnPath, 0, 2)
        });
        assert_eq!(schedule.peers_of(&unit(Stage::Neighbours(1), 0, 7)), 1);
        let order: Vec<usize> = std::iter::from_fn(|| schedule.next())
            .map(|unit| unit.seed)
            .collect();
        assert_eq!(order, [1, 1, 0, 4, 3, 2]);
        assert_eq!(schedule.peers_of(&unit(Stage::Neighbours(1), 0, 7)), 0);
    }
}
