//! Requirements without the parts that the tests' paths brought along.
//!
//! A requirement is *path ⇒ check*, and most of a path has nothing to do with the check. A part goes if all calls of the
//! tests keep to the requirement without it, and calls that only this part would excuse fail all the same.

use nearmiss_abi::site::SiteId;
use nearmiss_contracts::{Attribute, Comparison, Formula};

use super::evidence::Shower;
use super::sample::Sample;
use super::trial::Outcome;
use crate::condition::Clause;
use crate::implied::is_implied;
use crate::inputs::{Input, Role};
use crate::linear::Linear;
use crate::set::Set;
use crate::simplify::{Prover, without_subsumed};
use crate::{stairs, words};

/// Calls that show whether a string without an end is safe.
const MOST_SAFE: usize = 2;
/// Clauses that are looked at one by one.
const MOST_CLAUSES: usize = 80;
/// Parts that excuse a string without an end.
const MOST_GUARDS: usize = 3;
/// Numbers that might excuse it, which are tried.
const MOST_EXCUSES: usize = 5;
/// Intervals of a set that are parts of their own.
const MOST_INTERVALS: usize = 3;

/// A part of a clause: a sum, and one interval in which it may lie, or all of them.
type Part = (Linear, Set, Formula);

/// Makes the clauses of a function general; `prover` knows what follows from what.
pub fn generalise(
    clauses: Vec<(Clause, SiteId)>,
    shower: &mut Shower,
    prover: &mut Prover,
) -> Vec<(Clause, SiteId)> {
    let mut open = without_subsumed(clauses);
    open.sort_by_key(|(clause, _)| clause.len());
    let mut done: Vec<(Clause, SiteId)> = Vec::new();
    let known = shower.accepted.clone();
    let mut looked_at = 0;
    while !open.is_empty() && looked_at < MOST_CLAUSES && shower.trials.left > 0 {
        looked_at += 1;
        let (clause, site) = open.remove(0);
        let general = one(&clause, shower);
        let is_new = general != clause;
        done.push((general, site));
        if is_new {
            done = with_steps_joined(without_subsumed(done), shower);
            open.retain(|(it, _)| !follows(it, &done, prover));
        }
        let inputs = shower.trials.inputs;
        let said = done.iter().filter_map(|(it, _)| words::formula(it, inputs));
        shower.accepted = known.iter().cloned().chain(said).collect();
    }
    let done = with_steps_joined(done, shower);
    shower.accepted = known;
    done.into_iter().chain(open).collect()
}

/// Whether a clause follows from one of others that share a sum of inputs with it.
fn follows(clause: &Clause, done: &[(Clause, SiteId)], prover: &mut Prover) -> bool {
    let inputs = |clause: &Clause| -> Vec<u32> {
        let variables = clause.keys().flat_map(|sum| sum.factors.keys());
        variables.map(|it| it.input).collect()
    };
    let own = inputs(clause);
    let is_near = |it: &&(Clause, SiteId)| inputs(&it.0).iter().all(|input| own.contains(input));
    let near: Vec<&Clause> = done.iter().filter(is_near).map(|(it, _)| it).collect();
    !near.is_empty() && prover.follows(clause, near.into_iter())
}

/// Joins what the turns of a loop leave, and asks whether more turns need the same.
fn with_steps_joined(clauses: Vec<(Clause, SiteId)>, shower: &mut Shower) -> Vec<(Clause, SiteId)> {
    let inputs = shower.trials.inputs;
    let range = |variable: crate::Variable| inputs[variable.input as usize].range();
    let before = clauses.clone();
    let mut joined = stairs::join(clauses, &range);
    for (clause, _) in &mut joined {
        if !before.iter().any(|(it, _)| it == clause) {
            *clause = one(clause, shower);
        }
    }
    without_subsumed(joined)
}

/// One clause without the parts that it does not need.
fn one(clause: &Clause, shower: &mut Shower) -> Clause {
    let inputs = shower.trials.inputs;
    let Some(mut parts) = parts_of(clause, inputs) else {
        return clause.clone();
    };
    for is_meant in [is_of_elements, is_of_values, is_null] {
        let group: Vec<Part> = (parts.iter())
            .filter(|(sum, _, _)| is_meant(sum, inputs))
            .cloned()
            .collect();
        if group.is_empty() || parts.len() == 1 {
            continue;
        }
        let rest = without(&parts, &group);
        if group.len() > 1 && !rest.is_empty() && can_go(&rest, &group, shower) {
            parts = rest;
            continue;
        }
        for part in group {
            let rest = without(&parts, std::slice::from_ref(&part));
            if !rest.is_empty() && can_go(&rest, &[part], shower) {
                parts = rest;
            }
        }
    }
    joined(&parts)
}

fn role(sum: &Linear, inputs: &[Input]) -> Vec<Role> {
    let variables = sum.factors.keys();
    variables.map(|it| inputs[it.input as usize].role).collect()
}

fn is_of_elements(sum: &Linear, inputs: &[Input]) -> bool {
    role(sum, inputs).contains(&Role::Elements)
}

fn is_of_values(sum: &Linear, inputs: &[Input]) -> bool {
    role(sum, inputs).iter().all(|it| *it == Role::Value)
}

fn is_null(sum: &Linear, inputs: &[Input]) -> bool {
    role(sum, inputs).iter().all(|it| *it == Role::Null)
}

fn without(parts: &[Part], gone: &[Part]) -> Vec<Part> {
    let is_left = |it: &&Part| !gone.contains(it);
    parts.iter().filter(is_left).cloned().collect()
}

/// The parts of a clause; `None` if one cannot be said.
fn parts_of(clause: &Clause, inputs: &[Input]) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    for (sum, set) in clause {
        let is_split = !is_of_elements(sum, inputs) && set.intervals().len() <= MOST_INTERVALS;
        let sets: Vec<Set> = match is_split {
            true => (set.intervals().iter())
                .map(|(low, high)| Set::interval(*low, *high))
                .collect(),
            false => vec![set.clone()],
        };
        for set in sets {
            let formula = words::literal(sum, &set, inputs)?;
            parts.push((sum.clone(), set, formula));
        }
    }
    Some(parts)
}

fn joined(parts: &[Part]) -> Clause {
    let mut clause = Clause::new();
    for (sum, set, _) in parts {
        let known = clause.get(sum).map(|known: &Set| known.union(set));
        clause.insert(sum.clone(), known.unwrap_or_else(|| set.clone()));
    }
    clause
}

/// Whether the parts in `gone` excuse nothing: calls of the tests keep to the rest, and calls for which one of them
/// holds and nothing of the rest does fail.
fn can_go(rest: &[Part], gone: &[Part], shower: &mut Shower) -> bool {
    let said = |parts: &[Part]| -> Vec<Formula> { parts.iter().map(|it| it.2.clone()).collect() };
    let rest = said(rest);
    // It says nothing that the rest does not.
    let all = [&rest[..], &said(gone)].concat();
    if is_implied(&Formula::Any(rest.clone()), &[Formula::Any(all)]) {
        return true;
    }
    if !shower.is_kept_to(&Formula::Any(rest.clone())) {
        return false;
    }
    // Of many characters some are tried.
    let some: Vec<Formula> = said(gone).into_iter().take(3).collect();
    some.iter().all(|part| shower.all_fail(&rest, part))
}

impl Shower<'_, '_> {
    /// Whether calls fail for which none of `rest` holds, and `excuse` does: the nearest, one further away, and the tightest.
    fn all_fail(&mut self, rest: &[Formula], excuse: &Formula) -> bool {
        let mut kept = self.accepted.clone();
        kept.push(excuse.clone());
        let samples = self.search().outside(rest, &kept);
        let is_excused = |it: &&Sample| self.search().values.holds(excuse, &it.given) == Some(true);
        let samples: Vec<Sample> = samples.iter().filter(is_excused).cloned().collect();
        let (Some(near), Some(far)) = (samples.first(), samples.last()) else {
            return false;
        };
        let mut chosen = vec![near];
        if far != near {
            chosen.push(far);
        }
        // What fails because it is far beyond one end may be safe where both numbers are just beyond.
        let tight = self.search().tightest(rest, &kept, far);
        let tight = tight.filter(|it| !chosen.contains(&it));
        chosen.extend(&tight);
        let fails = |it: &Sample| matches!(self.trials.run(it), Outcome::Fails(_));
        chosen.into_iter().all(fails)
    }

    /// `bounds(s) > strlen(s)` of the strings for which that is needed, with what excuses that on all paths: calls that cut the
    /// string off before its end fail.
    pub fn strings(&mut self, clauses: &[(Clause, SiteId)]) -> Vec<Ended> {
        let inputs = self.trials.inputs;
        let is_string = |input: &&Input| input.role == Role::Elements && input.bytes == 1;
        let mut found = Vec::new();
        for place in inputs.iter().filter(is_string).map(|it| &it.place) {
            let about: Vec<&Clause> = (clauses.iter().map(|(clause, _)| clause))
                .filter(|clause| asks_for_room(clause, place, inputs))
                .collect();
            found.extend(self.ended(place, &about));
        }
        found
    }

    fn ended(&mut self, place: &str, about: &[&Clause]) -> Option<Ended> {
        let inputs = self.trials.inputs;
        let first = about.first().filter(|_| about.len() >= 2)?;
        let mut guards = (*first).clone();
        guards.retain(|sum, set| {
            let is_in_all = about.iter().all(|it| it.get(sum) == Some(set));
            is_in_all && !is_about(sum, place, inputs)
        });
        let end = Formula::compare(
            Comparison::Greater,
            Formula::term(Attribute::Bounds, place),
            Formula::term(Attribute::Find(0), place),
        );
        let mut parts = vec![end];
        for (sum, set) in &guards {
            parts.push(words::literal(sum, set, inputs)?);
        }
        let pool = excuses_of(about, |sum| !is_about(sum, place, inputs), inputs);
        for _ in 0..MOST_GUARDS {
            let Some(safe) = self.safe_outside(&parts) else {
                break;
            };
            let holds = |it: &&Formula| self.search().values.holds(it, &safe.given) == Some(true);
            let (sum, set, formula) = pool.iter().find(|(_, _, it)| holds(&it))?;
            guards.insert(sum.clone(), set.clone());
            parts.push(formula.clone());
        }
        let is_true =
            self.is_kept_to(&Formula::Any(parts.clone())) && self.is_needed(&parts, about);
        is_true.then(|| Ended {
            place: place.to_string(),
            formula: self.shortest(parts),
            guards,
        })
    }

    /// A call for which no part holds and that does not fail.
    fn safe_outside(&mut self, parts: &[Formula]) -> Option<Sample> {
        let samples = self.search().outside(parts, &self.accepted);
        let mut chosen = samples.into_iter().take(MOST_SAFE);
        chosen.find(|it| self.trials.run(it) == Outcome::Safe)
    }

    /// Whether calls that violate a requirement on a string fail, also where a number that the clauses name would excuse that.
    fn is_needed(&mut self, parts: &[Formula], about: &[&Clause]) -> bool {
        let inputs = self.trials.inputs;
        let numbers = excuses_of(about, |sum| is_of_values(sum, inputs), inputs);
        let numbers = numbers.into_iter().map(|it| it.2);
        let numbers = numbers.filter(|it| !parts.contains(it)).take(MOST_EXCUSES);
        let mut excuses = vec![Formula::truth(true)];
        excuses.extend(numbers);
        excuses.iter().all(|excuse| self.all_fail(parts, excuse))
    }

    /// The parts that are needed, the first at least, as one formula.
    pub fn shortest(&mut self, mut parts: Vec<Formula>) -> Formula {
        for number in (0..parts.len()).rev() {
            let mut rest = parts.clone();
            let part = rest.remove(number);
            let is_kept_to = !rest.is_empty() && self.is_kept_to(&Formula::Any(rest.clone()));
            if is_kept_to && self.all_fail(&rest, &part) {
                parts = rest;
            }
        }
        match parts.len() {
            1 => parts.remove(0),
            _ => {
                parts.sort_by_key(|part| !words::is_about_null(part));
                Formula::Any(parts)
            }
        }
    }
}

/// The literals of clauses that are of this kind, those of most clauses first.
fn excuses_of(
    about: &[&Clause],
    is_meant: impl Fn(&Linear) -> bool,
    inputs: &[Input],
) -> Vec<Part> {
    let mut found: Vec<(usize, Part)> = Vec::new();
    for (sum, set) in about.iter().flat_map(|clause| clause.iter()) {
        if !is_meant(sum) {
            continue;
        }
        match found
            .iter_mut()
            .find(|(_, it)| it.0 == *sum && it.1 == *set)
        {
            Some((count, _)) => *count += 1,
            None => found.extend(
                words::literal(sum, set, inputs).map(|it| (1, (sum.clone(), set.clone(), it))),
            ),
        }
    }
    found.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    found.into_iter().map(|(_, part)| part).collect()
}

/// A string that must have an end, unless one of the guards holds.
pub struct Ended {
    /// The string.
    pub place: String,
    /// What is required.
    pub formula: Formula,
    /// What excused that on all paths.
    pub guards: Clause,
}

fn is_about(sum: &Linear, place: &str, inputs: &[Input]) -> bool {
    let mut variables = sum.factors.keys();
    variables.any(|it| {
        let input = &inputs[it.input as usize];
        input.place == place && input.role != Role::Null
    })
}

/// Whether a clause asks for bounds of a pointer, and looks at what is there.
fn asks_for_room(clause: &Clause, place: &str, inputs: &[Input]) -> bool {
    let has = |role: Role| {
        let mut variables = clause.keys().flat_map(|sum| sum.factors.keys());
        variables.any(|it| {
            let input = &inputs[it.input as usize];
            input.role == role && input.place == place
        })
    };
    has(Role::Bounds) && has(Role::Elements)
}
