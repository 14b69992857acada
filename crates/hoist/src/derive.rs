//! What the calls of a function reveal → the requirements of its contract.

use std::collections::BTreeMap;

use nearmiss_abi::check::contracted;
use nearmiss_abi::site::SiteId;
use nearmiss_contracts::{Formula, Term};
use nearmiss_sites::Sites;

use crate::calls::Calls;
use crate::clock::Clock;
use crate::condition::Clause;
use crate::inputs::Input;
use crate::shown::evidence::{Evidence, Shower};
use crate::shown::general::generalise;
use crate::shown::sample::parts;
use crate::shown::trial::Trials;
use crate::simplify::{Prover, simplify, with_room};
use crate::strings::Joined;
use crate::{implied, strings, words};

/// Requirements of a function that a person still reads.
const MOST_REQUIREMENTS: usize = 10;
/// Comparisons of a requirement.
const MOST_COMPARISONS: usize = 5;
/// Characters of a requirement.
const MOST_CHARACTERS: usize = 110;
/// Requirements that differ in their numbers only: more of them are a table, and no rule.
const MOST_ALIKE: usize = 3;

/// The requirements of a function.
#[derive(Clone, Debug, Default)]
pub struct Derived {
    /// The requirements.
    pub requires: Vec<Formula>,
    /// Calls that showed them, by number.
    pub shown: BTreeMap<usize, String>,
    /// Why some were not shown on both sides, by number.
    pub open: BTreeMap<usize, String>,
    /// Clauses that no requirement that can be read says.
    pub left_out: u64,
    /// Clauses that calls of the tests do not keep to, without failing.
    pub contradicted: u64,
    /// Requirements that are not true: a call that violates them does not fail.
    pub refuted: u64,
    /// Requirements that no call shows.
    pub unseen: u64,
}

/// A requirement, and whether it comes of the contract of a deeper function.
type Found = (Formula, bool);

/// Derives requirements, for as long as there is time; without trials nothing is tried.
pub fn derive<'a>(
    calls: &Calls,
    inputs: &[Input],
    sites: &Sites,
    mut trials: Option<Trials<'a>>,
    clock: Clock<'a>,
) -> Derived {
    let all = calls.clauses.len();
    let clauses = strings::kept_to(calls.clauses.clone(), inputs, &calls.given);
    let mut derived = Derived {
        contradicted: (all - clauses.len()) as u64,
        ..Derived::default()
    };
    let mut clauses = with_room(clauses, inputs);
    let mut found: Vec<Found> = Vec::new();
    // Half of the time is for making requirements general, the rest for making them shorter, and for showing them.
    let first = clock.share(1, 2);
    if let Some(trials) = &mut trials {
        trials.clock = first;
        found.extend(
            ended(&mut clauses, inputs, trials)
                .into_iter()
                .map(|it| (it, false)),
        );
    }
    let mut joined = {
        let mut is_true = |formula: &Formula| match &mut trials {
            Some(trials) => is_true(formula, trials),
            None => true,
        };
        strings::join(clauses, inputs, &calls.given, &mut is_true)
    };
    if let Some(trials) = &mut trials {
        let known = found.iter().map(|it| it.0.clone()).collect();
        general(&mut joined, known, trials, first);
    }
    found.extend(joined.requires.into_iter().map(|it| (it, false)));
    let simple = simplify(joined.clauses, inputs, clock.share(1, 2));
    derived.left_out = simple.left_out;
    for (clause, site) in &simple.clauses {
        match words::formula(clause, inputs) {
            Some(formula) => found.push((formula, is_of_contract(sites, *site))),
            None => derived.left_out += 1,
        }
    }
    implied::drop_implied(&mut found, |it| &it.0);
    derived.left_out += keep_readable(&mut found);
    match trials {
        Some(mut trials) => {
            trials.clock = clock;
            show(found, &mut trials, &mut derived);
        }
        None => derived.requires = found.into_iter().map(|it| it.0).collect(),
    }
    derived
}

/// Requirements on the ends of strings; clauses that follow from them go.
fn ended(
    clauses: &mut Vec<(Clause, SiteId)>,
    inputs: &[Input],
    trials: &mut Trials,
) -> Vec<Formula> {
    let mut shower = Shower {
        trials,
        accepted: Vec::new(),
    };
    let ended = shower.strings(clauses);
    clauses.retain(|(clause, _)| {
        let mut places = ended.iter();
        !places.any(|it| strings::follows_from_end(clause, it, inputs))
    });
    ended.into_iter().map(|it| it.formula).collect()
}

/// What is left without the parts that it does not need.
fn general(joined: &mut Joined, known: Vec<Formula>, trials: &mut Trials, clock: Clock) {
    let inputs = trials.inputs;
    let mut shower = Shower {
        trials,
        accepted: known,
    };
    for formula in &mut joined.requires {
        *formula = shower.shortest(parts(formula));
    }
    shower.accepted.extend(joined.requires.iter().cloned());
    let mut prover = Prover::new(inputs, clock);
    let clauses = std::mem::take(&mut joined.clauses);
    joined.clauses = generalise(clauses, &mut shower, &mut prover);
}

fn is_true(formula: &Formula, trials: &mut Trials) -> bool {
    let mut shower = Shower {
        trials,
        accepted: Vec::new(),
    };
    shower.show(formula, &[]) != Evidence::Refuted
}

/// Whether a check is that of a deeper function's contract: what violates it need not fail.
fn is_of_contract(sites: &Sites, site: SiteId) -> bool {
    let found = sites.get(site);
    found.is_some_and(|(unit, site)| contracted(unit.function_of(site)).is_some())
}

/// Leaves out what is too long, and all but the first of many that differ in their numbers only; says how many.
fn keep_readable(found: &mut Vec<Found>) -> u64 {
    let before = found.len();
    let mut seen = Vec::new();
    found.retain(|(formula, _)| {
        let is_new = !seen.contains(formula);
        seen.push(formula.clone());
        is_new
    });
    let repeated = before - found.len();
    found.retain(|(formula, _)| {
        formula.size() <= MOST_COMPARISONS && formula.to_string().len() <= MOST_CHARACTERS
    });
    let shape = |formula: &Formula| -> Vec<Term> {
        let mut terms: Vec<Term> = formula.terms().into_iter().cloned().collect();
        terms.sort();
        terms
    };
    let mut shapes: BTreeMap<Vec<Term>, usize> = BTreeMap::new();
    for (formula, _) in found.iter() {
        *shapes.entry(shape(formula)).or_default() += 1;
    }
    let mut kept: Vec<Vec<Term>> = Vec::new();
    found.retain(|(formula, _)| {
        let shape = shape(formula);
        let is_rule = shapes[&shape] <= MOST_ALIKE || !kept.contains(&shape);
        kept.push(shape);
        is_rule
    });
    // The shortest come first, so these say most.
    found.truncate(MOST_REQUIREMENTS);
    (before - repeated - found.len()) as u64
}

/// Shows each requirement on both sides; leaves out what is not true, and what no call shows.
fn show(found: Vec<Found>, trials: &mut Trials, derived: &mut Derived) {
    let mut shower = Shower {
        trials,
        accepted: Vec::new(),
    };
    let can_make_calls = shower.can_make_calls();
    let mut left = found;
    let mut at = 0;
    while at < left.len() {
        let others: Vec<Formula> = (left.iter().enumerate())
            .filter(|(other, _)| *other != at)
            .map(|(_, it)| it.0.clone())
            .collect();
        let (formula, is_of_contract) = left[at].clone();
        match shower.show(&formula, &others) {
            Evidence::Shown(words) => drop(derived.shown.insert(at, words)),
            Evidence::Refuted if is_of_contract => {
                let why = "a call that violates it does not fail: a deeper contract asks for it";
                derived.open.insert(at, why.into());
            }
            Evidence::Refuted => {
                left.remove(at);
                derived.refuted += 1;
                continue;
            }
            Evidence::Unseen(_) if can_make_calls && !is_of_contract => {
                left.remove(at);
                derived.unseen += 1;
                continue;
            }
            Evidence::Open(why) | Evidence::Unseen(why) => drop(derived.open.insert(at, why)),
        }
        at += 1;
    }
    derived.requires = left.into_iter().map(|it| it.0).collect();
}
