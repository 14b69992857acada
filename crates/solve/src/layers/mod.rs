//! The layers in front of the back ends: each answers what it can and passes on the rest.

mod checked;
mod cores;
mod differential;
mod domains;
mod escalate;
mod instances;
mod models;
mod one_byte;
mod ranges;
mod small_numbers;
mod tabulated;

pub use checked::Checked;
pub use cores::UnsatCores;
pub use differential::Differential;
pub use domains::SmallDomains;
pub use escalate::{Escalate, Share};
pub use instances::Instances;
pub use models::RecentModels;
pub use one_byte::OneByte;
pub use ranges::RangeBounds;
pub use small_numbers::SmallNumbers;
pub use tabulated::Tabulated;

use nearmiss_expr::{Evaluator, Inputs, Terms};

use crate::query::{Model, Query};

/// Whether a model is an answer to a query, by evaluation.
pub(crate) fn satisfies(
    evaluator: &mut Evaluator,
    terms: &Terms,
    query: &Query<'_>,
    model: &Model,
) -> bool {
    let input = model.over(query.recorded);
    evaluator.reset();
    // The goal first: it is what most inputs fail at.
    query
        .fixed
        .iter()
        .all(|&(byte, value)| input.byte(byte) == value)
        && evaluator.holds(terms, &input, query.goal)
        && query
            .constraints
            .iter()
            .all(|&constraint| evaluator.holds(terms, &input, constraint))
}
