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
    let condition = if taken == *default {
        // Neither of the cases that go elsewhere.
        let mut all = terms.truth(true);
        for case in cases.iter().filter(|case| case.1 != taken) {
            let equal = equals(terms, term, case_value(case));
            let differs = terms.not(equal);
            all = terms.and(all, differs);
        }
        all
    } else {
        let mut any = terms.truth(false);
        for case in cases.iter().filter(|case| case.1 == taken) {
            let equal = equals(terms, term, case_value(case));
            any = terms.or(any, equal);
        }
        any
    };
    (condition, taken as u64)
}

/// Whether a term has this value.
pub(crate) fn equals(terms: &mut Terms, term: TermId, value: u128) -> TermId {
    let width = terms.width(term);
    let constant = terms.constant(width, value);
    terms.eq(term, constant)
}
