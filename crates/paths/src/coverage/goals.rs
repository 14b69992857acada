//! What is to be covered: both outcomes of every condition, every condition of a decision on its own.

use nearmiss_results::{Covered, Uncovered};

use super::decisions::Decisions;
use super::image::Function;
use super::mapping::{Count, Kind};

/// Everything that is to be covered of some functions.
#[derive(Clone, Debug)]
pub struct Goals {
    functions: Vec<Counted>,
}

/// A function and what is to be covered of it.
#[derive(Clone, Debug)]
struct Counted {
    function: Function,
    outcomes: Vec<Outcome>,
    decisions: Decisions,
}

#[derive(Clone, Debug)]
struct Outcome {
    count: Count,
    place: (u32, u32),
    what: &'static str,
    covered: bool,
}

impl Goals {
    /// All of these functions.
    pub fn of(functions: Vec<Function>) -> Goals {
        let counted = |function: Function| Counted {
            outcomes: outcomes(&function),
            decisions: Decisions::of(&function),
            function,
        };
        Goals {
            functions: functions.into_iter().map(counted).collect(),
        }
    }

    /// The functions.
    pub fn functions(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().map(|counted| &counted.function)
    }

    /// Looks at the counters and bitmaps of the whole program; how many outcomes are new.
    pub fn update(&mut self, counters: &[u8], bitmap: &[u8]) -> usize {
        self.functions
            .iter_mut()
            .map(|counted| counted.update(counters, bitmap))
            .sum()
    }

    /// Outcomes of conditions.
    pub fn branches(&self) -> Covered {
        let all = || self.functions.iter().flat_map(|counted| &counted.outcomes);
        Covered {
            covered: all().filter(|outcome| outcome.covered).count() as u64,
            total: all().count() as u64,
        }
    }

    /// Conditions that were shown to matter on their own.
    pub fn conditions(&self) -> Covered {
        let mut sum = Covered::default();
        for counted in &self.functions {
            let (total, covered) = counted.decisions.seen();
            sum.total += total as u64;
            sum.covered += covered as u64;
        }
        sum
    }

    /// Outcomes that were not seen.
    pub fn open_branches(&self) -> Vec<Uncovered> {
        let of = |counted: &Counted| -> Vec<Uncovered> {
            let open = counted.outcomes.iter().filter(|outcome| !outcome.covered);
            open.map(|outcome| Uncovered {
                file: counted.function.file.clone(),
                line: outcome.place.0,
                column: outcome.place.1,
                what: outcome.what.to_string(),
            })
            .collect()
        };
        self.functions.iter().flat_map(of).collect()
    }

    /// Conditions that were not shown to matter on their own.
    pub fn open_conditions(&self) -> Vec<Uncovered> {
        let of = |counted: &Counted| counted.decisions.open(&counted.function.file);
        self.functions.iter().flat_map(of).collect()
    }
}

impl Counted {
    fn update(&mut self, counters: &[u8], bitmap: &[u8]) -> usize {
        let Counted {
            function,
            outcomes,
            decisions,
        } = self;
        decisions.update(&bitmap[function.bitmap.clone()]);
        let own = &counters[function.counters.clone()];
        let value = |index: usize| {
            let word = own.get(8 * index..8 * index + 8);
            word.map_or(0, |word| {
                u64::from_le_bytes(word.try_into().expect("eight bytes"))
            })
        };
        let mut counts = function.mapping.evaluator(&value);
        let mut new = 0;
        for outcome in outcomes.iter_mut().filter(|outcome| !outcome.covered) {
            outcome.covered = counts.value(outcome.count) > 0;
            new += usize::from(outcome.covered);
        }
        new
    }
}

/// The outcomes that are counted: what is decided when it is compiled is none.
fn outcomes(function: &Function) -> Vec<Outcome> {
    let mut list = Vec::new();
    for region in &function.mapping.regions {
        let (Kind::Branch(yes, no) | Kind::Condition(yes, no, _)) = region.kind else {
            continue;
        };
        let place = function.mapping.place(region);
        for (count, what) in [(yes, "true"), (no, "false")] {
            if count != Count::Zero {
                list.push(Outcome {
                    count,
                    place,
                    what,
                    covered: false,
                });
            }
        }
    }
    list
}
