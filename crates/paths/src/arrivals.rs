//! The runs of an exploration on admissible inputs, one after another.

use nearmiss_search::strategy::Outcome;
use nearmiss_search::{DepthFirst, Next, Strategy, Visited, next_arrival};

use crate::error::ExploreError;
use crate::explorer::{Arrival, Explorer, Pending};
use crate::input::Input;

/// An exploration that gives its runs: `while let Some(arrival) = arrivals.next()?`.
pub struct Arrivals<'a> {
    /// Decides partial paths.
    pub explorer: Explorer<'a>,
    worklist: Worklist,
    /// The input that everything begins with, until it was run.
    first: Option<Input>,
    finished: Option<Finished>,
}

/// How an exploration ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finished {
    /// Nothing is left to be decided.
    Exhausted,
    /// The caller has enough.
    Stopped,
    /// The time is over, or the user has enough.
    OutOfTime,
    /// There is no admissible input at all.
    Empty,
}

impl<'a> Arrivals<'a> {
    /// Begins with this input; the strategy says which partial path comes next.
    pub fn new(
        explorer: Explorer<'a>,
        first: Input,
        strategy: Box<dyn Strategy<Pending>>,
    ) -> Arrivals<'a> {
        Arrivals {
            explorer,
            worklist: Worklist {
                function: strategy,
                oracle: DepthFirst::default(),
            },
            first: Some(first),
            finished: None,
        }
    }

    /// How many partial paths of the function wait.
    pub fn open(&self) -> usize {
        self.worklist.function.len()
    }

    /// How it ended; `None` while there is more to do.
    pub fn finished(&self) -> Option<Finished> {
        self.finished
    }

    /// Ends it: enough is known.
    pub fn stop(&mut self) {
        self.finished.get_or_insert(Finished::Stopped);
    }

    /// The next run on an admissible input; `None` when nothing is left, the time is over, or it was
    /// stopped.
    pub fn next(&mut self) -> Result<Option<Arrival>, ExploreError> {
        if self.finished.is_some() {
            return Ok(None);
        }
        if let Some(first) = self.first.take() {
            let visited = self.explorer.begin(&first, &mut self.worklist)?;
            if let Visited::Arrived(arrival) = visited {
                return Ok(Some(arrival));
            }
        }
        match next_arrival(&mut self.explorer, &mut self.worklist)? {
            Next::Arrival(arrival) => return Ok(Some(arrival)),
            Next::Cut if self.open() > 0 => self.finished = Some(Finished::OutOfTime),
            Next::Cut | Next::Empty => self.finish(),
        }
        Ok(None)
    }

    /// No partial path of the function is left.
    fn finish(&mut self) {
        self.explorer.tree.oracle_cut += self.worklist.oracle.len() as u64;
        self.finished = Some(if self.explorer.has_no_path() {
            Finished::Empty
        } else {
            Finished::Exhausted
        });
    }
}

/// Partial paths of the function by a strategy; alternatives of the oracle when the function has none.
struct Worklist {
    function: Box<dyn Strategy<Pending>>,
    oracle: DepthFirst<Pending>,
}

impl Strategy<Pending> for Worklist {
    fn add(&mut self, pending: Pending) {
        if pending.is_of_oracle() {
            self.oracle.add(pending);
        } else {
            self.function.add(pending);
        }
    }

    fn next(&mut self) -> Option<Pending> {
        self.function.next().or_else(|| self.oracle.next())
    }

    fn len(&self) -> usize {
        self.function.len() + self.oracle.len()
    }

    fn observe(&mut self, outcomes: &mut dyn Iterator<Item = Outcome>) -> bool {
        self.function.observe(outcomes)
    }
}
