//! A switch as a condition: which values would have gone the same way.

use nearmiss_abi::op::truncate;
use nearmiss_abi::site::SiteId;
use nearmiss_expr::{TermId, Terms};
use nearmiss_sites::{SiteKind, Sites};

/// The condition that a switch on `term`, which had `value`, put on the input, and the number
/// of the target it went to. A switch that is not in the site map (or is wider than its
/// cases) is fixed to its value: stronger than needed, never wrong.
pub(crate) fn condition(
    terms: &mut Terms,
    sites: &Sites,
    site: SiteId,
    term: TermId,
    value: u128,
) -> (TermId, u64) {
    let width = terms.width(term);
    let known = sites.get(site).map(|(_, site)| &site.kind);
    let Some(SiteKind::Switch { cases, default }) = known.filter(|_| width <= 64) else {
        return (equals(terms, term, value), value as u64);
    };
    let case_value = |case: &(u64, u32)| truncate(case.0 as u128, width);
    let taken = cases
        .iter()
        .find(|case| case_value(case) == value)
        .map_or(*default, |case| case.1);
    let condition = goes_to(terms, (cases, *default), term, taken);
    (condition, taken as u64)
}

/// The condition that a switch on `term` goes to a target.
fn goes_to(
    terms: &mut Terms,
    (cases, default): (&[(u64, u32)], u32),
    term: TermId,
    target: u32,
) -> TermId {
    let width = terms.width(term);
    let case_value = |case: &(u64, u32)| truncate(case.0 as u128, width);
    if target == default {
        // Neither of the cases that go elsewhere.
        let mut all = terms.truth(true);
        for case in cases.iter().filter(|case| case.1 != target) {
            let equal = equals(terms, term, case_value(case));
            let differs = terms.not(equal);
            all = terms.and(all, differs);
        }
        all
    } else {
        let mut any = terms.truth(false);
        for case in cases.iter().filter(|case| case.1 == target) {
            let equal = equals(terms, term, case_value(case));
            any = terms.or(any, equal);
        }
        any
    }
}

/// The targets of a switch on `term`, each with the condition of going there; none if the switch
/// is not in the site map.
pub fn switch_targets(
    terms: &mut Terms,
    sites: &Sites,
    site: SiteId,
    term: TermId,
) -> Vec<(u64, TermId)> {
    let width = terms.width(term);
    let known = sites.get(site).map(|(_, site)| &site.kind);
    let Some(SiteKind::Switch { cases, default }) = known.filter(|_| width <= 64) else {
        return Vec::new();
    };
    let mut targets: Vec<u32> = cases.iter().map(|case| case.1).chain([*default]).collect();
    targets.sort_unstable();
    targets.dedup();
    targets
        .into_iter()
        .map(|target| {
            (
                u64::from(target),
                goes_to(terms, (cases, *default), term, target),
            )
        })
        .collect()
}

/// Whether a term has this value.
pub(crate) fn equals(terms: &mut Terms, term: TermId, value: u128) -> TermId {
    let width = terms.width(term);
    let constant = terms.constant(width, value);
    terms.eq(term, constant)
}
