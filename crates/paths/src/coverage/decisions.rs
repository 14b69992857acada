//! MC/DC: which conditions of a decision were shown to decide it on their own.
//!
//! clang numbers the ways through a decision and sets a bit for each that was taken. Two ways that end
//! differently, and of whose common conditions exactly one has another value, show that this condition
//! matters (LLVM's rule: conditions that one of the two did not look at do not count).

use nearmiss_results::Uncovered;

use super::image::Function;
use super::mapping::{Count, Kind, Mapping, Region, Role};

/// Decisions with more conditions, or more ways, are not judged.
const MOST_CONDITIONS: usize = 128;
const MOST_WAYS: usize = 1 << 14;

/// The decisions of a function.
#[derive(Clone, Debug)]
pub struct Decisions {
    list: Vec<Decision>,
}

#[derive(Clone, Debug)]
struct Decision {
    place: (u32, u32),
    conditions: Vec<Condition>,
    ways: Vec<Way>,
}

#[derive(Clone, Debug)]
struct Condition {
    place: (u32, u32),
    /// Whether it is decided when it is compiled.
    is_fixed: bool,
    shown: bool,
}

/// A way through a decision: which conditions were looked at, and what they were.
#[derive(Clone, Copy, Debug)]
struct Way {
    bit: usize,
    seen: u128,
    values: u128,
    outcome: bool,
}

impl Decisions {
    /// The decisions of a function.
    pub fn of(function: &Function) -> Decisions {
        let mapping = &function.mapping;
        let decisions = mapping
            .regions
            .iter()
            .filter_map(|region| match region.kind {
                Kind::Decision(end, count) => Decision::new(mapping, region, end, count),
                _ => None,
            });
        Decisions {
            list: decisions.collect(),
        }
    }

    /// Looks at the function's bitmap.
    pub fn update(&mut self, bitmap: &[u8]) {
        for decision in &mut self.list {
            decision.update(bitmap);
        }
    }

    /// How many conditions there are, and how many of them were shown to matter.
    pub fn seen(&self) -> (usize, usize) {
        let all = || (self.list.iter()).flat_map(|decision| decision.judged());
        (
            all().count(),
            all().filter(|condition| condition.shown).count(),
        )
    }

    /// The conditions that were not shown to matter.
    pub fn open(&self, file: &str) -> Vec<Uncovered> {
        let of = |decision: &Decision| -> Vec<Uncovered> {
            let count = decision.conditions.len();
            let numbered = decision.conditions.iter().enumerate();
            let open = numbered.filter(|(_, condition)| !condition.is_fixed && !condition.shown);
            open.map(|(index, condition)| Uncovered {
                file: file.to_string(),
                line: condition.place.0,
                column: condition.place.1,
                what: format!(
                    "condition {} of {count} at {}:{} on its own",
                    index + 1,
                    decision.place.0,
                    decision.place.1
                ),
            })
            .collect()
        };
        self.list.iter().flat_map(of).collect()
    }
}

impl Decision {
    fn new(mapping: &Mapping, region: &Region, end: usize, count: usize) -> Option<Decision> {
        let found = conditions(mapping, region);
        let mut roles: Vec<Option<Role>> = vec![None; count];
        let mut list = Vec::new();
        for (condition, counts, role) in &found {
            *roles.get_mut(role.number)? = Some(*role);
            list.push((
                role.number,
                Condition {
                    place: mapping.place(condition),
                    is_fixed: *counts == (Count::Zero, Count::Zero),
                    shown: false,
                },
            ));
        }
        list.sort_by_key(|(number, _)| *number);
        let roles: Vec<Role> = roles.into_iter().collect::<Option<_>>()?;
        if found.len() != count || count > MOST_CONDITIONS {
            return None;
        }
        Some(Decision {
            place: mapping.place(region),
            conditions: list.into_iter().map(|(_, condition)| condition).collect(),
            ways: Numbering::of(&roles)?.ways(&roles, end)?,
        })
    }

    /// The conditions that are judged at all.
    fn judged(&self) -> impl Iterator<Item = &Condition> {
        self.conditions
            .iter()
            .filter(|condition| !condition.is_fixed)
    }

    fn update(&mut self, bitmap: &[u8]) {
        let is_set = |bit: usize| {
            bitmap
                .get(bit / 8)
                .is_some_and(|byte| byte >> (bit % 8) & 1 == 1)
        };
        let taken: Vec<Way> = self
            .ways
            .iter()
            .filter(|way| is_set(way.bit))
            .copied()
            .collect();
        for (index, left) in taken.iter().enumerate() {
            for right in &taken[..index] {
                let differences = (left.values ^ right.values) & left.seen & right.seen;
                if left.outcome != right.outcome && differences.count_ones() == 1 {
                    self.conditions[differences.trailing_zeros() as usize].shown = true;
                }
            }
        }
    }
}

/// The conditions of a decision: those for which it is the innermost one around them.
fn conditions(mapping: &Mapping, decision: &Region) -> Vec<(Region, (Count, Count), Role)> {
    let is_around = |outer: &Region, region: &Region| {
        let within = mapping.within(region, outer.file);
        within.is_some_and(|part| outer.start <= part.start && part.end <= outer.end)
    };
    let decisions = |region: &&Region| matches!(region.kind, Kind::Decision(..));
    let is_innermost = |region: &Region| {
        let around = mapping.regions.iter().filter(decisions);
        around
            .filter(|other| is_around(other, region))
            .all(|other| other == decision || !is_around(decision, other))
    };
    let mut found = Vec::new();
    for region in &mapping.regions {
        if let Kind::Condition(yes, no, role) = region.kind
            && is_around(decision, region)
            && is_innermost(region)
        {
            found.push((*region, (yes, no), role));
        }
    }
    found
}

/// How clang numbers the ways through a decision: what each step adds to a way's number.
struct Numbering {
    steps: Vec<[usize; 2]>,
    ways: usize,
}

impl Numbering {
    fn of(roles: &[Role]) -> Option<Numbering> {
        let mut pending = vec![0_usize; roles.len()];
        for next in roles.iter().flat_map(|role| role.next).flatten() {
            *pending.get_mut(next)? += 1;
        }
        // How many ways lead to a condition.
        let mut widths = vec![0_usize; roles.len()];
        let mut steps = vec![[0; 2]; roles.len()];
        let mut ends = Vec::new();
        let mut ready = std::collections::VecDeque::from([0]);
        *widths.first_mut()? = 1;
        while let Some(number) = ready.pop_front() {
            for value in [0, 1] {
                let Some(next) = roles[number].next[value] else {
                    ends.push((widths[number], number, value));
                    continue;
                };
                steps[number][value] = widths[next];
                widths[next] = widths[next].checked_add(widths[number])?;
                pending[next] -= 1;
                if pending[next] == 0 {
                    ready.push_back(next);
                }
            }
        }
        // The widest ends come first, in the order in which they were met.
        ends.sort_by_key(|(width, _, _)| std::cmp::Reverse(*width));
        let mut ways = 0;
        for (width, number, value) in ends {
            steps[number][value] = ways;
            ways += width;
        }
        (ways <= MOST_WAYS).then_some(Numbering { steps, ways })
    }

    /// Every way, with its bit; the bits of a decision end at `end`.
    fn ways(&self, roles: &[Role], end: usize) -> Option<Vec<Way>> {
        let first = end.checked_sub(self.ways)?;
        let mut ways = Vec::new();
        let mut open = vec![(0, first, 0_u128, 0_u128)];
        while let Some((number, bit, seen, values)) = open.pop() {
            for value in [0, 1] {
                let bit = bit + self.steps[number][value];
                let seen = seen | 1 << number;
                let values = values | (value as u128) << number;
                match roles[number].next[value] {
                    Some(next) => open.push((next, bit, seen, values)),
                    None => ways.push(Way {
                        bit,
                        seen,
                        values,
                        outcome: value == 1,
                    }),
                }
            }
        }
        Some(ways)
    }
}
