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
//! Whether a fork is feasible costs a question to a solver, so it is asked only where the answer
//! decides on a divergence point.

/// One step of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// A fork.
    pub fork: bool,
    /// Something sensitive happened since the step before.
    pub sensitive_before: bool,
    /// The step is a sensitive operation itself.
    pub sensitive: bool,
}

/// What is known of a fork.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feasibility {
    /// Nobody asked yet.
    Open,
    /// Some input goes another way.
    Feasible,
    /// No input does.
    Infeasible,
    /// It was asked, and nobody knows: such a fork is no divergence point and counts for nothing.
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
    /// Whether a sensitive operation follows before the next fork.
    leads_to_sensitive: bool,
    feasibility: Feasibility,
}

/// A fork that counts for distances, or may.
#[derive(Clone, Copy, Debug)]
struct Counting {
    /// Its number among the forks.
    position: usize,
    /// Whether a sensitive operation follows before the next one of these.
    leads_to_sensitive: bool,
}

impl Course {
    /// The forks among these steps. The end of the path is sensitive too: what happens there is
    /// what the test is about.
    pub fn new(steps: impl IntoIterator<Item = Step>) -> Course {
        let mut forks: Vec<Fork> = Vec::new();
        let mark = |forks: &mut Vec<Fork>| {
            if let Some(last) = forks.last_mut() {
                last.leads_to_sensitive = true;
            }
        };
        for (number, step) in steps.into_iter().enumerate() {
            if step.sensitive_before {
                mark(&mut forks);
            }
            if step.fork {
                forks.push(Fork {
                    step: number,
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
            if matches!(fork.feasibility, Feasibility::Open | Feasibility::Feasible) {
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
            if self.forks[position].feasibility == Feasibility::Feasible {
                feasible += 1;
            } else {
                seen += 1;
                if !std::mem::replace(&mut is_listed[position], true) {
                    open.push(self.forks[position].step);
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
        // Feasible forks since the last open one: the way back ends there.
        let mut feasible = Vec::new();
        for fork in &self.forks {
            match fork.feasibility {
                Feasibility::Open => feasible.clear(),
                Feasibility::Feasible => feasible.push(fork.step),
                Feasibility::Infeasible | Feasibility::Unknown => {}
            }
            let first = feasible.len().checked_sub(distance as usize);
            if let Some(&step) = first.and_then(|first| feasible.get(first))
                && fork.leads_to_sensitive
                && points.last() != Some(&step)
            {
                points.push(step);
            }
        }
        points.reverse();
        points
    }

    /// The largest distance at which there can be divergence points.
    pub fn farthest(&self) -> u32 {
        let may_be =
            |fork: &&Fork| matches!(fork.feasibility, Feasibility::Open | Feasibility::Feasible);
        self.forks.iter().filter(may_be).count() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `f` a fork, `s` a sensitive operation, `.` another step.
    fn course(text: &str) -> Course {
        Course::new(text.chars().map(|letter| Step {
            fork: letter == 'f',
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
    fn only_what_decides_is_asked() {
        let mut path = course("ffffs");
        assert_eq!(path.open(1, 0, 100), [3]);
        assert_eq!(path.open(1, 2, 100), [3, 2, 1]);
        assert_eq!(path.open(1, 9, 2), [3, 2]);
        assert_eq!(path.divergence_points(1), [], "nobody knows yet");
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
            let back = course.forks[..=last].iter().rev();
            let is_feasible = |fork: &&Fork| fork.feasibility == Feasibility::Feasible;
            let is_settled = |fork: &&Fork| fork.feasibility != Feasibility::Open;
            let mut feasible = back.take_while(is_settled).filter(is_feasible);
            if let Some(fork) = feasible.nth(distance as usize - 1)
                && course.forks[last].leads_to_sensitive
                && !points.contains(&fork.step)
            {
                points.push(fork.step);
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
                .map(|_| ['f', 'f', 's', '.'][random(4) as usize])
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
                let expected = by_definition(&path, distance);
                assert_eq!(
                    path.divergence_points(distance),
                    expected,
                    "{text} {distance}"
                );
                for step in path.open(distance, 2, 100) {
                    path.settle(step, Feasibility::Feasible);
                }
            }
        }
    }
}
