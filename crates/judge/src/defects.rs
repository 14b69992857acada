//! One finding per defect: failures that are of one defect are merged, and the best of them stays.

use nearmiss_results::{Finding, Status};

use crate::identity::is_same;
use crate::nearness;

/// Where a failure went among those that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The position of its defect.
    pub position: usize,
    /// Whether the defect is new.
    pub is_new: bool,
}

/// Adds a failure to those that are known, one for each defect: of two of one defect the better one
/// stays, with the smaller distance of both. What is to stay goes through `keep`, with its position.
pub fn merge<T, E>(
    known: &mut Vec<T>,
    new: T,
    keep: impl FnOnce(T, usize) -> Result<T, E>,
) -> Result<Merged, E>
where
    T: AsRef<Finding> + AsMut<Finding>,
{
    let same = |one: &T| is_same(one.as_ref(), new.as_ref());
    let Some(position) = known.iter().position(same) else {
        let position = known.len();
        known.push(keep(new, position)?);
        return Ok(Merged {
            position,
            is_new: true,
        });
    };
    let (old, found) = (known[position].as_ref(), new.as_ref());
    let distance = old.distance.min(found.distance);
    if is_better(found, old) {
        known[position] = keep(new, position)?;
    }
    known[position].as_mut().distance = distance;
    Ok(Merged {
        position,
        is_new: false,
    })
}

/// Whether a finding is better than another of the same defect: seen rather than predicted, with an
/// input that is nearer to the test's, near to the test's path.
pub fn is_better(new: &Finding, old: &Finding) -> bool {
    let rank = |finding: &Finding| {
        let is_predicted = finding.status == Status::Unconfirmed;
        (
            is_predicted,
            nearness::of_finding(finding),
            finding.distance,
        )
    };
    rank(new) < rank(old)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use nearmiss_results::Test;

    use super::*;

    fn failure(line: u32, status: Status, distance: u32) -> Finding {
        Finding {
            file: "a.c".into(),
            line,
            status,
            distance,
            ..Finding::new(Test::default())
        }
    }

    fn merged(failures: &[Finding]) -> (Vec<Finding>, Vec<usize>) {
        let (mut known, mut kept) = (Vec::new(), Vec::new());
        for failure in failures {
            let Ok(_) = merge(&mut known, failure.clone(), |finding, position| {
                kept.push(position);
                Ok::<_, Infallible>(finding)
            });
        }
        (known, kept)
    }

    #[test]
    fn the_best_of_a_defect_stays_with_the_smallest_distance() {
        let (known, kept) = merged(&[
            failure(3, Status::Unconfirmed, 0),
            failure(7, Status::Confirmed, 2),
            failure(3, Status::Confirmed, 4),
            failure(3, Status::Unconfirmed, 1),
        ]);
        assert_eq!(kept, [0, 1, 0], "the last one is no better");
        let shown = known.iter().map(|one| (one.line, one.status, one.distance));
        let expected = [(3, Status::Confirmed, 0), (7, Status::Confirmed, 2)];
        assert_eq!(shown.collect::<Vec<_>>(), expected);
    }
}
