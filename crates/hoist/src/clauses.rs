//! One recorded call → clauses: for each check on its path, *path ⇒ check*.
//!
//! That earlier checks held is no part of the premise: where one fails, its own clause says so.

use std::collections::BTreeMap;

use nearmiss_abi::check::Kind;
use nearmiss_abi::event::EventKind;
use nearmiss_abi::site::SiteId;
use nearmiss_expr::{TermId, Terms};
use nearmiss_trace::Event;

use crate::clock::Clock;
use crate::condition::{Clause, Condition, union};
use crate::inputs::View;
use crate::linear::{Linear, Variable};
use crate::set::Set;
use crate::translate::Translator;

/// What one call reveals.
#[derive(Clone, Debug, Default)]
pub struct Revealed {
    /// The clauses; each is about the check at this site.
    pub clauses: Vec<(Clause, SiteId)>,
    /// Checks that were met on input data.
    pub checks: u64,
    /// Checks that could not be said, by the place of what cannot be said: the check itself, or a decision before it.
    pub unsaid: BTreeMap<SiteId, u64>,
    /// Whether there was no time for the rest of the path.
    pub is_cut_off: bool,
}

/// What the path says so far.
#[derive(Default)]
struct Premise {
    literals: BTreeMap<Linear, Set>,
    others: Vec<Condition>,
    /// The first decision that cannot be said.
    lost: Option<SiteId>,
}

impl Premise {
    fn add(&mut self, condition: Condition) {
        match condition {
            Condition::Literal(sum, set) => {
                let known = self.literals.get(&sum);
                let both = known.map_or(set.clone(), |known| known.intersection(&set));
                self.literals.insert(sum, both);
            }
            Condition::All(parts) => parts.into_iter().for_each(|part| self.add(part)),
            other => self.others.push(other),
        }
    }

    /// This ⇒ conclusion.
    fn implies(&self, conclusion: Condition, view: View) -> Option<Vec<Clause>> {
        let range = |variable: Variable| view.range(variable);
        // Of a long path nearly all is literals: they make one clause, whatever else there is.
        let mut excuse = Clause::new();
        for (sum, set) in &self.literals {
            let others = set.complement(sum.range(&range));
            if set.is_empty() {
                return Some(Vec::new());
            }
            if !others.is_empty() {
                excuse.insert(sum.clone(), others);
            }
        }
        let mut parts: Vec<Condition> = self.others.iter().map(|it| it.negated(&range)).collect();
        parts.push(conclusion);
        let clauses = Condition::any(parts).clauses(&range)?;
        let all = clauses.iter().filter_map(|it| union(it, &excuse, &range));
        Some(all.collect())
    }
}

/// That the pointers which a condition looks at are not null.
fn not_null(translator: &mut Translator, condition: TermId, view: View) -> Vec<Condition> {
    let range = |variable: Variable| view.range(variable);
    let set = |variable: Variable| {
        Condition::between(&Linear::variable(variable), Some(0), Some(0), &range)
    };
    let pointers = translator.pointers(condition).into_iter();
    pointers.map(set).collect()
}

/// That the pointers which a condition looks at are null or not, as they were in the call.
fn as_recorded(translator: &mut Translator, condition: TermId, view: View) -> Vec<Condition> {
    let range = |variable: Variable| view.range(variable);
    let same = |variable: Variable| {
        let null = i128::from(view.recorded(variable).unwrap_or(0));
        Condition::between(&Linear::variable(variable), Some(null), Some(null), &range)
    };
    let pointers = translator.pointers(condition).into_iter();
    pointers.map(same).collect()
}

/// The clauses of one call, from the events between its entry and its end, each with what goes wrong where it fails.
pub fn reveal(
    terms: &Terms,
    view: View,
    events: &[(Event, Option<Kind>)],
    clock: Clock,
) -> Revealed {
    let mut revealed = Revealed::default();
    let mut premise = Premise::default();
    let mut translator = Translator::new(terms, view);
    for (event, kind) in events {
        let Some(condition) = event.condition else {
            continue;
        };
        let is_check = event.kind == EventKind::Check && event.truth;
        if event.kind == EventKind::Hint || event.is_failure() {
            continue;
        }
        // What the path has revealed so far is true without the rest.
        if clock.is_over() {
            revealed.is_cut_off = true;
            break;
        }
        let set = not_null(&mut translator, condition, view);
        let said = match (premise.lost, *kind) {
            (Some(_), _) => None,
            // An access through a null pointer is one whatever is added to it.
            (None, Some(Kind::NullDereference)) if is_check => Some(Condition::all(set)),
            (None, _) => {
                // What an address is made of says something of pointers that are null, or not, as they were.
                if !translator.is_about_null(condition) {
                    for pointer in as_recorded(&mut translator, condition, view) {
                        translator.assume(&pointer);
                        premise.add(pointer);
                    }
                }
                translator.condition(condition)
            }
        };
        if is_check {
            revealed.checks += 1;
            let clauses = said.clone().and_then(|it| premise.implies(it, view));
            match clauses {
                Some(clauses) => revealed
                    .clauses
                    .extend(clauses.into_iter().map(|it| (it, event.site))),
                None => {
                    let place = premise.lost.unwrap_or(event.site);
                    *revealed.unsaid.entry(place).or_default() += 1;
                }
            }
            if let Some(said) = &said {
                translator.assume(said);
            }
            continue;
        }
        match said {
            Some(said) => {
                translator.assume(&said);
                premise.add(said);
            }
            None => premise.lost = premise.lost.or(Some(event.site)),
        }
    }
    revealed
}
