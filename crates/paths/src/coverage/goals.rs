//! What is to be covered: both outcomes of every condition, and what of it is.

use super::image::Function;
use super::mapping::{Count, Kind};

/// Something that tests have not shown yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goal {
    /// The file, as the user named it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// What is missing: `true`, `false`, `condition 2 of 3`.
    pub what: String,
}

/// Both outcomes of every condition of some functions.
#[derive(Clone, Debug)]
pub struct Outcomes {
    functions: Vec<Counted>,
}

/// A function and what its outcomes are.
#[derive(Clone, Debug)]
struct Counted {
    function: Function,
    outcomes: Vec<Outcome>,
}

#[derive(Clone, Debug)]
struct Outcome {
    count: Count,
    place: (u32, u32),
    what: &'static str,
    covered: bool,
}

impl Outcomes {
    /// All of these functions.
    pub fn of(functions: Vec<Function>) -> Outcomes {
        let counted = |function: Function| Counted {
            outcomes: outcomes(&function),
            function,
        };
        Outcomes {
            functions: functions.into_iter().map(counted).collect(),
        }
    }

    /// The functions.
    pub fn functions(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().map(|counted| &counted.function)
    }

    /// Looks at the counters of the whole program; how many outcomes are new.
    pub fn update(&mut self, counters: &[u8]) -> usize {
        self.functions
            .iter_mut()
            .map(|counted| counted.update(counters))
            .sum()
    }

    /// How many there are, and how many of them were seen.
    pub fn seen(&self) -> (usize, usize) {
        let all = || self.functions.iter().flat_map(|counted| &counted.outcomes);
        let covered = all().filter(|outcome| outcome.covered).count();
        (all().count(), covered)
    }

    /// Those that were not seen.
    pub fn open(&self) -> Vec<Goal> {
        let of = |counted: &Counted| -> Vec<Goal> {
            let open = counted.outcomes.iter().filter(|outcome| !outcome.covered);
            open.map(|outcome| Goal {
                file: counted.function.file.clone(),
                line: outcome.place.0,
                column: outcome.place.1,
                what: outcome.what.to_string(),
            })
            .collect()
        };
        self.functions.iter().flat_map(of).collect()
    }
}

impl Counted {
    fn update(&mut self, counters: &[u8]) -> usize {
        let Counted { function, outcomes } = self;
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
        let (Kind::Branch(yes, no) | Kind::Condition(yes, no)) = region.kind else {
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
