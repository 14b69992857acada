//! A path as forks and sensitive operations: where to diverge from it, nearest first (ZESTI).
//!
//! A *fork* is a branch or switch on input data; it is feasible if some input takes the path up
//! to it and then goes another way. A *sensitive operation* is one that could go wrong on other
//! data. The distance between a fork and a sensitive operation behind it is the number of
//! feasible forks from the one up to the other, the first one included:
//!
//! ```text
//!   fork A   fork B   fork C (not feasible)   operation        distance of A: 2, of B: 1
//! ```
//!
//! A *free* fork is a way off the path at which the program decides nothing, such as an input that
//! ends earlier. It has a distance, as if it were the next fork, but is none that counts for others:
//!
//! ```text
//!   fork A   free F   fork B   free G   operation              distance of A and F: 2, of B and G: 1
//! ```
//!
//! Whether a fork is feasible costs a question to a solver, so it is asked only where the answer
//! decides on a divergence point.

use serde::{Deserialize, Serialize};

/// One step of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// A fork.
    pub fork: bool,
    /// A fork that does not count for the distances of others.
    pub free: bool,
    /// Something sensitive happened since the step before.
    pub sensitive_before: bool,
    /// The step is a sensitive operation itself.
    pub sensitive: bool,
}

/// What is known of a fork.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Feasibility {
    /// It was not asked yet.
    Open,
    /// Some input goes another way.
    Feasible,
    /// No input does.
    Infeasible,
    /// It was asked, and is not known: such a fork is no divergence point and counts for nothing.
    Unknown,
}

/// How many forks are explored from a divergence point at a distance, itself included: twice as
/// many as there are up to the sensitive operation on the path that is known.
pub fn depth_bound(distance: u32) -> u32 {
    distance.saturating_mul(2)
}

/// The forks of a path.
#[derive(Clone, Debug)]
pub struct Course {
    forks: Vec<Fork>,
}

#[derive(Clone, Copy, Debug)]
struct Fork {
    /// Its number among the steps.
    step: usize,
    is_free: bool,
    /// Whether a sensitive operation follows before the next fork that is not free.
    leads_to_sensitive: bool,
    feasibility: Feasibility,
}

/// A fork that counts for distances, or may, or is free.
#[derive(Clone, Copy, Debug)]
struct Counting {
    /// Its number among the forks.
    position: usize,
    /// Whether a sensitive operation follows before the next one of these.
    leads_to_sensitive: bool,
}

/// The steps of a fork that counts and of the free ones up to the next: all have the same distances.
type Level = Vec<usize>;

impl Fork {
    /// Whether some input goes another way, as far as is known.
    fn may_be(&self) -> bool {
        matches!(self.feasibility, Feasibility::Open | Feasibility::Feasible)
    }
}

impl Course {
    /// The forks among these steps. The end of the path is sensitive too: what happens there is
    /// what the test is about.
    pub fn new(steps: impl IntoIterator<Item = Step>) -> Course {
        let mut forks: Vec<Fork> = Vec::new();
        let mark = |forks: &mut Vec<Fork>| {
            for last in forks.iter_mut().rev() {
                last.leads_to_sensitive = true;
                if !last.is_free {
                    break;
                }
            }
        };
        for (number, step) in steps.into_iter().enumerate() {
            if step.sensitive_before {
                mark(&mut forks);
            }
            if step.fork {
                forks.push(Fork {
                    step: number,
                    is_free: step.free,
                    leads_to_sensitive: false,
                    feasibility: Feasibility::Open,
                });
            }
            if step.sensitive {
                mark(&mut forks);
            }
        }
        mark(&mut forks);
        Course { forks }
    }

    /// What was found out about the fork at a step.
    pub fn settle(&mut self, step: usize, feasibility: Feasibility) {
        let found = self.forks.binary_search_by_key(&step, |fork| fork.step);
        if let Ok(position) = found {
            self.forks[position].feasibility = feasibility;
        }
    }

    /// What is known, by step.
    pub fn feasibilities(&self) -> impl Iterator<Item = (usize, Feasibility)> + '_ {
        self.forks.iter().map(|fork| (fork.step, fork.feasibility))
    }

    /// The number of forks.
    pub fn len(&self) -> usize {
        self.forks.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.forks.is_empty()
    }

    /// Steps of forks that must be settled before the divergence points at a distance are known:
    /// those before the deepest sensitive operations first, `most` at most. For each operation
    /// `ahead` more are named than can be needed if all are feasible, since many are not.
    pub fn open(&self, distance: u32, ahead: usize, most: usize) -> Vec<usize> {
        let counting = self.counting();
        let mut open = Vec::new();
        let mut is_listed = vec![false; self.forks.len()];
        for last in (0..counting.len()).rev() {
            if !counting[last].leads_to_sensitive {
                continue;
            }
            let back = counting[..=last].iter().rev();
            self.list_open(back, distance as usize, ahead, &mut is_listed, &mut open);
            if open.len() >= most {
                open.truncate(most);
                break;
            }
        }
        open
    }

    /// The forks that count or may count. The others, of which there may be many between two of
    /// these, are of no interest but for what they lead to: that is what the last one before leads
    /// to.
    fn counting(&self) -> Vec<Counting> {
        let mut counting: Vec<Counting> = Vec::new();
        for (position, fork) in self.forks.iter().enumerate() {
            if fork.may_be() {
                counting.push(Counting {
                    position,
                    leads_to_sensitive: fork.leads_to_sensitive,
                });
            } else if let Some(last) = counting.last_mut() {
                last.leads_to_sensitive |= fork.leads_to_sensitive;
            }
        }
        counting
    }

    /// The open forks that decide which is the `distance`-th feasible one on the way back.
    fn list_open<'c>(
        &self,
        back: impl Iterator<Item = &'c Counting>,
        distance: usize,
        ahead: usize,
        is_listed: &mut [bool],
        open: &mut Vec<usize>,
    ) {
        let (mut feasible, mut seen) = (0, 0);
        for &Counting { position, .. } in back {
            let fork = &self.forks[position];
            let counts = usize::from(!fork.is_free);
            if fork.feasibility == Feasibility::Feasible {
                feasible += counts;
            } else {
                seen += counts;
                if !std::mem::replace(&mut is_listed[position], true) {
                    open.push(fork.step);
                }
            }
            if feasible >= distance || feasible + seen >= distance + ahead {
                return;
            }
        }
    }

    /// Steps of the forks that lie at a distance of a sensitive operation, as far as is known:
    /// those of the deepest operations first. While forks in between are open, an operation has
    /// no divergence point yet.
    pub fn divergence_points(&self, distance: u32) -> Vec<usize> {
        let mut points = Vec::new();
        // From the last open fork on: the way back ends there. Before its first fork a way may have
        // free ones.
        let mut levels = vec![Level::new()];
        for fork in &self.forks {
            match fork.feasibility {
                Feasibility::Open if fork.is_free => {}
                Feasibility::Open => levels = vec![Level::new()],
                Feasibility::Feasible => {
                    if !fork.is_free {
                        levels.push(Level::new());
                    }
                    levels.last_mut().expect("one").push(fork.step);
                }
                Feasibility::Infeasible | Feasibility::Unknown => {}
            }
            let level = levels.len().checked_sub(distance as usize);
            if let Some(level) = level.and_then(|level| levels.get_mut(level))
                && fork.leads_to_sensitive
            {
                points.append(level);
            }
        }
        points.reverse();
        points
    }

    /// The largest distance at which there can be divergence points.
    pub fn farthest(&self) -> u32 {
        let mut forks = self.forks.iter().filter(|fork| fork.may_be());
        let begins_free = forks.clone().next().is_some_and(|first| first.is_free);
        let counting = forks.by_ref().filter(|fork| !fork.is_free).count() as u32;
        counting + u32::from(begins_free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `f` a fork, `o` a free one, `s` a sensitive operation, `.` another step.
    fn course(text: &str) -> Course {
        Course::new(text.chars().map(|letter| Step {
            fork: matches!(letter, 'f' | 'o'),
            free: letter == 'o',
            sensitive_before: false,
            sensitive: letter == 's',
        }))
    }

    fn settle_all(course: &mut Course, infeasible: &[usize]) {
        let steps: Vec<usize> = course.feasibilities().map(|(step, _)| step).collect();
        for step in steps {
            let feasibility = match infeasible.contains(&step) {
                true => Feasibility::Infeasible,
                false => Feasibility::Feasible,
            };
            course.settle(step, feasibility);
        }
    }

    #[test]
    fn the_nearer_fork_is_the_nearer_divergence_point() {
        // The seed's Figure 4: two forks, then the access.
        let mut figure = course("ffs");
        settle_all(&mut figure, &[]);
        assert_eq!(figure.divergence_points(1), [1]);
        assert_eq!(figure.divergence_points(2), [0]);
        assert_eq!(figure.divergence_points(3), []);
    }

    #[test]
    fn what_cannot_go_another_way_does_not_count() {
        let mut path = course("ff.ffs");
        settle_all(&mut path, &[3, 4]);
        assert_eq!(path.divergence_points(1), [1]);
        assert_eq!(path.divergence_points(2), [0]);
        assert_eq!(path.farthest(), 2);
    }

    #[test]
    fn deeper_operations_come_first_and_the_end_is_one() {
        let mut path = course("fsffsf");
        settle_all(&mut path, &[]);
        assert_eq!(path.divergence_points(1), [5, 3, 0]);
        assert_eq!(path.divergence_points(2), [3, 2]);
    }

    #[test]
    fn a_sensitive_operation_before_a_fork_belongs_to_the_fork_before() {
        let fork = Step {
            fork: true,
            ..Step::default()
        };
        let after = Step {
            sensitive_before: true,
            ..fork
        };
        let mut path = Course::new([fork, after]);
        settle_all(&mut path, &[]);
        assert_eq!(path.divergence_points(1), [1, 0]);
    }

    #[test]
    fn free_forks_do_not_count() {
        let mut path = course("ofofos");
        assert_eq!(path.open(1, 0, 100), [4, 3]);
        settle_all(&mut path, &[]);
        assert_eq!(path.divergence_points(1), [4, 3]);
        assert_eq!(path.divergence_points(2), [2, 1]);
        assert_eq!(path.divergence_points(3), [0]);
        assert_eq!(path.divergence_points(4), []);
        assert_eq!(path.farthest(), 3);
    }

    #[test]
    fn a_free_fork_is_known_behind_an_open_one() {
        let mut path = course("fofs");
        path.settle(1, Feasibility::Feasible);
        path.settle(2, Feasibility::Feasible);
        assert_eq!(path.divergence_points(1), [2]);
        assert_eq!(path.divergence_points(2), [1]);
        path.settle(0, Feasibility::Feasible);
        assert_eq!(path.divergence_points(2), [1, 0]);
    }

    #[test]
    fn only_what_decides_is_asked() {
        let mut path = course("ffffs");
        assert_eq!(path.open(1, 0, 100), [3]);
        assert_eq!(path.open(1, 2, 100), [3, 2, 1]);
        assert_eq!(path.open(1, 9, 2), [3, 2]);
        assert_eq!(path.divergence_points(1), [], "it is not known yet");
        path.settle(3, Feasibility::Infeasible);
        assert_eq!(path.open(1, 0, 100), [2]);
        path.settle(2, Feasibility::Feasible);
        assert_eq!(path.open(1, 0, 100), []);
        assert_eq!(path.divergence_points(1), [2]);
        assert_eq!(path.open(2, 0, 100), [1]);
    }

    /// The definition, word for word: the way back from each operation.
    fn by_definition(course: &Course, distance: u32) -> Vec<usize> {
        let mut points = Vec::new();
        for last in (0..course.forks.len()).rev() {
            if !course.forks[last].leads_to_sensitive {
                continue;
            }
            let mut passed = 0;
            for fork in course.forks[..=last].iter().rev() {
                if fork.feasibility == Feasibility::Open && !fork.is_free {
                    break;
                }
                if fork.feasibility != Feasibility::Feasible {
                    continue;
                }
                if passed + 1 == distance && !points.contains(&fork.step) {
                    points.push(fork.step);
                }
                passed += u32::from(!fork.is_free);
            }
        }
        points
    }

    #[test]
    fn divergence_points_are_those_of_the_definition() {
        let mut seed = 1u32;
        let mut random = |below: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) % below
        };
        for _ in 0..200 {
            let text: String = (0..40)
                .map(|_| ['f', 'f', 'o', 's', '.'][random(5) as usize])
                .collect();
            let mut path = course(&text);
            let steps: Vec<usize> = path.feasibilities().map(|(step, _)| step).collect();
            for step in steps {
                path.settle(
                    step,
                    match random(6) {
                        0 => Feasibility::Open,
                        1 => Feasibility::Unknown,
                        2 | 3 => Feasibility::Infeasible,
                        _ => Feasibility::Feasible,
                    },
                );
            }
            for distance in 1..6 {
                let (mut expected, mut found) = (
                    by_definition(&path, distance),
                    path.divergence_points(distance),
                );
                // Of the free forks at one distance the order is of no interest.
                expected.sort_unstable();
                found.sort_unstable();
                assert_eq!(found, expected, "{text} {distance}");
                for step in path.open(distance, 2, 100) {
                    path.settle(step, Feasibility::Feasible);
                }
            }
        }
    }
}
