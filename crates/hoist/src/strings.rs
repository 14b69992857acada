//! What a loop over a string reveals turn by turn, as one requirement.
//!
//! ```text
//!  bounds(s) > 1 || s[0] != ' '
//!  bounds(s) > 2 || s[0] != ' ' || s[1] != ' '          ─►    bounds(s) > strlen(s)
//!  bounds(s) > 3 || s[0] != ' ' || s[1] != ' ' || …
//! ```
//!
//! Each of these clauses holds if the string ends (a zero is no space), and that is what a person would write. It asks for
//! more than the tests reveal: for longer strings, and for characters at which the function would have stopped. So it is
//! used only if there are several such clauses, all follow from it, all calls of the tests keep to it, and one of them reads
//! the zero at the end. Numbers that grow with the turns (`size <= 4`, `size <= 5`, …) and other strings' lengths make it `bounds(d) > strlen(s) || bounds(d)
//! >= size - 1`.

use std::collections::{BTreeMap, BTreeSet};

use nearmiss_abi::site::SiteId;
use nearmiss_contracts::{Attribute, Comparison, Formula};

use crate::condition::{Clause, Condition};
use crate::inputs::{Input, Role};
use crate::linear::{Linear, Variable};
use crate::set::Set;
use crate::shown::general::Ended;
use crate::shown::given::{Given, Values, read};
use crate::stairs::{from_here_on, up_to_here};
use crate::words;

/// The turns that must have been seen.
const LEAST_TURNS: usize = 3;

/// What is left, and what is said of strings.
#[derive(Clone, Debug, Default)]
pub struct Joined {
    /// Requirements on strings.
    pub requires: Vec<Formula>,
    /// Clauses that do not follow from them.
    pub clauses: Vec<(Clause, SiteId)>,
}

/// A clause as what must be true in turn `turn`: `bounds >= turn + 1`, or one of the others.
struct Turn {
    /// The input that is the bounds.
    bounds: u32,
    turn: i128,
    /// Numbers that are at most `turn` and so much more.
    numbers: BTreeSet<(Linear, i128)>,
    /// Strings that are at most as long as `turn` and so much more: the input of their characters.
    lengths: BTreeSet<(u32, i128)>,
    nulls: Clause,
    rest: Clause,
}

/// The turns of one loop.
type Loop = (u32, BTreeSet<(Linear, i128)>, Clause);

/// The clauses that all calls of the tests keep to, as far as their inputs tell: what a call violates that did not fail is
/// no requirement, but comes of something that is no input.
pub fn kept_to(
    mut clauses: Vec<(Clause, SiteId)>,
    inputs: &[Input],
    calls: &[Given],
) -> Vec<(Clause, SiteId)> {
    let value = |variable: &Variable, given: &Given| {
        let input = &inputs[variable.input as usize];
        let start = (variable.element * input.bytes) as usize;
        let bytes = given.get(&variable.input)?;
        let bytes = bytes.get(start..start + input.bytes as usize)?;
        Some(read(bytes, input.signed))
    };
    let holds = |clause: &Clause, given: &Given| {
        clause.iter().any(|(sum, set)| {
            let mut known = sum.factors.keys().map(|it| value(it, given));
            let is_known = known.all(|it| it.is_some());
            let value = |variable: Variable| value(&variable, given).unwrap_or(0);
            !is_known || set.contains(sum.evaluate(&value))
        })
    };
    clauses.retain(|(clause, _)| calls.iter().all(|given| holds(clause, given)));
    clauses
}

/// A clause with a number between two ends is two, with one end each: the ends need not come of the same turn. Each with the
/// number of the clause that it is of.
fn split(clauses: &[(Clause, SiteId)], inputs: &[Input]) -> Vec<(Clause, usize)> {
    let range = range_of(inputs);
    let mut all = Vec::new();
    for (number, (clause, _)) in clauses.iter().enumerate() {
        let is_value = |sum: &Linear| {
            let variable = sum.as_variable();
            variable.is_some_and(|it| inputs[it.input as usize].role == Role::Value)
        };
        let between = clause.iter().find_map(|(sum, set)| {
            let (least, greatest) = sum.range(&range);
            match set.intervals() {
                [(low, high)] if is_value(sum) && *low > least && *high < greatest => Some((
                    sum.clone(),
                    [Set::interval(*low, greatest), Set::interval(least, *high)],
                )),
                _ => None,
            }
        });
        match between {
            Some((sum, ends)) => all.extend(ends.map(|end| {
                let mut half = clause.clone();
                half.insert(sum.clone(), end);
                (half, number)
            })),
            None => all.push((clause.clone(), number)),
        }
    }
    all
}

/// Joins clauses about strings; `calls` is what the tests' calls were given, `is_true` tries a requirement.
pub fn join(
    clauses: Vec<(Clause, SiteId)>,
    inputs: &[Input],
    calls: &[Given],
    is_true: &mut dyn FnMut(&Formula) -> bool,
) -> Joined {
    let halves = split(&clauses, inputs);
    let mut joined = Joined::default();
    let mut gone = BTreeSet::new();
    // The pointers whose strings end, whatever else holds.
    let mut whole = BTreeSet::new();
    for ((bounds, numbers, rest), turns) in loops(&halves, inputs) {
        let seen: BTreeSet<i128> = turns.iter().map(|(_, turn)| turn.turn).collect();
        if seen.len() < LEAST_TURNS {
            continue;
        }
        let is_set = is_never_null(bounds, &clauses, inputs);
        let found = formula(bounds, (&numbers, &rest, is_set), &turns, inputs);
        let Some((formula, is_alone)) = found else {
            continue;
        };
        let is_kept_to = |given: &Given| Values { inputs }.holds(&formula, given) != Some(false);
        let is_kept_to = calls.iter().all(is_kept_to);
        if !is_kept_to || !is_seen_to_end(&turns, calls) || !is_true(&formula) {
            continue;
        }
        gone.extend(turns.iter().map(|(place, _)| *place));
        if is_alone {
            whole.insert(bounds);
        }
        if !joined.requires.contains(&formula) {
            joined.requires.push(formula);
        }
    }
    joined.clauses = left(clauses, halves, &gone);
    let follows = |clause: &Clause| follows_from_whole(clause, &whole, inputs);
    joined.clauses.retain(|(clause, _)| !follows(clause));
    joined
}

/// The loops that halves of clauses may be turns of, each with its turns and the places of these halves.
fn loops(halves: &[(Clause, usize)], inputs: &[Input]) -> BTreeMap<Loop, Vec<(usize, Turn)>> {
    let mut loops: BTreeMap<Loop, Vec<(usize, Turn)>> = BTreeMap::new();
    for (place, (clause, _)) in halves.iter().enumerate() {
        for turn in turns(clause, inputs) {
            let key = (turn.bounds, turn.numbers.clone(), turn.rest.clone());
            loops.entry(key).or_default().push((place, turn));
        }
    }
    loops
}

/// What is left of clauses without the halves that are gone. A clause of which no half is gone stays whole.
fn left(
    clauses: Vec<(Clause, SiteId)>,
    halves: Vec<(Clause, usize)>,
    gone: &BTreeSet<usize>,
) -> Vec<(Clause, SiteId)> {
    let mut halves = halves.into_iter().enumerate().peekable();
    let mut all = Vec::new();
    for (number, clause) in clauses.into_iter().enumerate() {
        let mut own = Vec::new();
        let mut is_whole = true;
        while let Some((place, (half, _))) = halves.next_if(|(_, (_, of))| *of == number) {
            match gone.contains(&place) {
                true => is_whole = false,
                false => own.push((half, clause.1)),
            }
        }
        match is_whole {
            true => all.push(clause),
            false => all.extend(own),
        }
    }
    all
}

/// Whether a clause holds because a string ends: that has room for its end, and is one.
fn follows_from_whole(clause: &Clause, whole: &BTreeSet<u32>, inputs: &[Input]) -> bool {
    clause.iter().any(|(sum, set)| {
        let Some(variable) = sum.as_variable() else {
            return false;
        };
        let input = &inputs[variable.input as usize];
        let is_of = |bounds: &u32| inputs[*bounds as usize].place == input.place;
        let says = match input.role {
            Role::Bounds => lowest(sum, set, inputs) == Some(1),
            Role::Null => set.contains(0),
            _ => false,
        };
        says && whole.iter().any(is_of)
    })
}

/// Whether a clause holds wherever a string has an end, `bounds(p) > strlen(p)`, or a guard of that holds.
pub fn follows_from_end(clause: &Clause, ended: &Ended, inputs: &[Input]) -> bool {
    let place = &ended.place;
    let mut guards = ended.guards.iter();
    let is_guarded = guards.all(|(sum, set)| {
        let wider = clause.get(sum);
        wider.is_some_and(|wider| wider.intersection(set) == *set)
    });
    let is_of = |variable: &Variable, role: Role| {
        let input = &inputs[variable.input as usize];
        input.role == role && input.place == *place
    };
    let ends_at = |at: i128| {
        clause.iter().any(|(sum, set)| {
            let variable = sum.as_variable().filter(|it| is_of(it, Role::Elements));
            variable.is_some_and(|it| i128::from(it.element) == at) && set.contains(0)
        })
    };
    let mut literals = clause.iter();
    is_guarded
        && literals.any(|(sum, set)| match sum.as_variable() {
            Some(it) if is_of(&it, Role::Null) => set.contains(0),
            // Where it ends earlier, the clause holds by the zero.
            Some(it) if is_of(&it, Role::Bounds) => {
                lowest(sum, set, inputs).is_some_and(|room| (0..room - 1).all(ends_at))
            }
            _ => false,
        })
}

fn range_of(inputs: &[Input]) -> impl Fn(Variable) -> (i128, i128) + '_ {
    |variable| inputs[variable.input as usize].range()
}

fn lowest(sum: &Linear, set: &Set, inputs: &[Input]) -> Option<i128> {
    from_here_on(sum, set, &range_of(inputs))
}

/// The turns that a clause may be: one for each pointer whose bounds it asks for.
fn turns(clause: &Clause, inputs: &[Input]) -> Vec<Turn> {
    let role = |variable: Variable| inputs[variable.input as usize].role;
    let asked = clause.iter().filter_map(|(sum, set)| {
        let bounds = sum.as_variable().filter(|it| role(*it) == Role::Bounds)?;
        Some((bounds.input, lowest(sum, set, inputs)? - 1))
    });
    asked
        .filter_map(|(bounds, turn)| one_turn(clause, (bounds, turn), inputs))
        .collect()
}

fn one_turn(clause: &Clause, (bounds, turn): (u32, i128), inputs: &[Input]) -> Option<Turn> {
    let mut found = Turn {
        bounds,
        turn,
        numbers: BTreeSet::new(),
        lengths: BTreeSet::new(),
        nulls: Clause::new(),
        rest: Clause::new(),
    };
    let mut characters: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for (sum, set) in clause {
        let role = |variable: &Variable| inputs[variable.input as usize].role;
        if sum.factors.keys().all(|it| role(it) == Role::Elements) {
            // Of characters only where a string may end is kept.
            let variable = sum.as_variable().filter(|_| set.contains(0));
            if let Some(variable) = variable.filter(|it| inputs[it.input as usize].bytes == 1) {
                let places = characters.entry(variable.input).or_default();
                places.insert(variable.element);
            }
        } else if sum.factors.keys().all(|it| role(it) == Role::Null) {
            found.nulls.insert(sum.clone(), set.clone());
        } else if sum.as_variable().is_none_or(|it| it.input != bounds) {
            match up_to_here(sum, set, &range_of(inputs)) {
                Some(most) => drop(found.numbers.insert((sum.clone(), most - turn))),
                None => drop(found.rest.insert(sum.clone(), set.clone())),
            }
        }
    }
    for (input, places) in characters {
        let count = (0..).take_while(|it| places.contains(it)).count() as i128;
        if count > 0 {
            found.lengths.insert((input, count - 1 - turn));
        }
    }
    (turn > 0 && !found.lengths.is_empty()).then_some(found)
}

/// Whether a clause says that the pointer with these bounds is not null.
fn is_never_null(bounds: u32, clauses: &[(Clause, SiteId)], inputs: &[Input]) -> bool {
    let place = &inputs[bounds as usize].place;
    let says = |(sum, set): (&Linear, &Set)| {
        let input = sum.as_variable().map(|it| &inputs[it.input as usize]);
        let is_it = input.is_some_and(|it| it.role == Role::Null && it.place == *place);
        is_it && !set.contains(1)
    };
    let mut clauses = clauses.iter().filter(|(clause, _)| clause.len() == 1);
    clauses.any(|(clause, _)| clause.iter().all(says))
}

/// The strings that all turns are about, each with the least that it is longer: what holds for that holds for more.
fn common_lengths(turns: &[(usize, Turn)]) -> BTreeMap<u32, i128> {
    let mut found: BTreeMap<u32, (usize, i128, i128)> = BTreeMap::new();
    for (input, more) in turns.iter().flat_map(|(_, turn)| &turn.lengths) {
        let known = found.entry(*input).or_insert((0, *more, *more));
        *known = (known.0 + 1, known.1.min(*more), known.2.max(*more));
    }
    // One that is now so much longer and now so much does not grow with the turns.
    let grows =
        |(count, least, most): &(usize, i128, i128)| *count == turns.len() && most - least < 2;
    found.retain(|_, it| grows(it));
    found.into_iter().map(|(input, it)| (input, it.1)).collect()
}

/// Whether some call came as far as the zero that ends the string: a loop that never does (four digits, say) needs none.
fn is_seen_to_end(turns: &[(usize, Turn)], calls: &[Given]) -> bool {
    let most = turns.iter().map(|(_, turn)| turn.turn).max().unwrap_or(0);
    let ends_within = |input: &u32, given: &Given| {
        let end = given.get(input)?.iter().position(|byte| *byte == 0)?;
        Some(end as i128 <= most)
    };
    let is_seen = |input: &u32| {
        let mut calls = calls.iter();
        calls.any(|given| ends_within(input, given) == Some(true))
    };
    common_lengths(turns).keys().all(is_seen)
}

/// What all turns require, and whether that is about the string alone.
fn formula(
    bounds: u32,
    (numbers, rest, is_set): (&BTreeSet<(Linear, i128)>, &Clause, bool),
    turns: &[(usize, Turn)],
    inputs: &[Input],
) -> Option<(Formula, bool)> {
    let lengths = common_lengths(turns);
    let place = &inputs[bounds as usize].place;
    let mut nulls = turns.first()?.1.nulls.clone();
    nulls.retain(|sum, set| {
        let input = sum.as_variable().map(|it| &inputs[it.input as usize]);
        let is_own = input.is_some_and(|it| it.place == *place);
        let in_all = turns.iter().all(|(_, it)| it.nulls.get(sum) == Some(set));
        is_own && !is_set && in_all
    });
    let room = inputs[bounds as usize].name(0);
    let mut parts = Vec::new();
    for (sum, set) in nulls.iter().chain(rest) {
        parts.push(words::literal(sum, set, inputs)?);
    }
    for (input, more) in &lengths {
        let length = Formula::term(Attribute::Find(0), &inputs[*input as usize].place);
        parts.push(at_least(room.clone(), length, -more)?);
    }
    let range = range_of(inputs);
    for (sum, more) in numbers {
        let room = Linear::variable(Variable {
            input: bounds,
            element: 0,
        });
        let difference = room.plus(-1, sum)?;
        match Condition::between(&difference, Some(-more), None, &range) {
            Condition::Literal(sum, set) => parts.push(words::literal(&sum, &set, inputs)?),
            _ => return None,
        }
    }
    let is_alone = parts.len() == 1;
    let formula = match is_alone {
        true => parts.remove(0),
        false => Formula::Any(parts),
    };
    (!lengths.is_empty()).then_some((formula, is_alone))
}

/// `room >= length + more`.
fn at_least(room: Formula, length: Formula, more: i128) -> Option<Formula> {
    Some(match more {
        1 => Formula::compare(Comparison::Greater, room, length),
        0 => Formula::compare(Comparison::GreaterEqual, room, length),
        _ => {
            let more = Formula::Number(i64::try_from(more).ok()?);
            let least = Formula::Add(Box::new(length), Box::new(more));
            Formula::compare(Comparison::GreaterEqual, room, least)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(role: Role, bytes: u32) -> Input {
        Input {
            place: "s".into(),
            role,
            signed: false,
            bytes,
        }
    }

    fn variable(input: u32, element: u32) -> Linear {
        Linear::variable(Variable { input, element })
    }

    /// `bounds(s) > turn || s[0] is no space || … || s[turn - 1] is no space`.
    fn turn(turn: i128) -> (Clause, SiteId) {
        let other = Set::of([32]).complement((0, 255));
        let room = (
            variable(0, 0),
            Set::interval(turn + 1, i128::from(i32::MAX)),
        );
        let characters = (0..turn).map(|place| (variable(1, place as u32), other.clone()));
        (characters.chain([room]).collect(), SiteId::NONE)
    }

    #[test]
    fn a_loop_over_a_string_needs_its_end() {
        let inputs = [input(Role::Bounds, 4), input(Role::Elements, 1)];
        let clauses: Vec<(Clause, SiteId)> = (0..5).map(turn).collect();
        let given = |text: &[u8]| -> Given {
            let room = (text.len() as u32).to_le_bytes().to_vec();
            [(0, room), (1, text.to_vec())].into()
        };
        let joined = join(
            clauses.clone(),
            &inputs,
            &[given(b"  a\0"), given(b"\0")],
            &mut |_| true,
        );
        let said: Vec<String> = joined.requires.iter().map(Formula::to_string).collect();
        assert_eq!(said, ["bounds(s) > strlen(s)"]);
        assert!(joined.clauses.is_empty());
        // A test calls it with characters that do not end: then it is not so.
        let joined = join(clauses.clone(), &inputs, &[given(b"  a")], &mut |_| true);
        assert!(joined.requires.is_empty());
        assert_eq!(joined.clauses.len(), 5);
        // No call reads the zero, so none is needed.
        let joined = join(
            clauses.clone(),
            &inputs,
            &[given(b"        \0")],
            &mut |_| true,
        );
        assert!(joined.requires.is_empty());
        // Two turns are no loop.
        let few = clauses[..3].to_vec();
        assert!(
            join(few, &inputs, &[given(b"\0")], &mut |_| true)
                .requires
                .is_empty()
        );
    }
}
