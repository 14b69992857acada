//! The layers in front of the back ends: each answers what it can and passes on the rest.

mod checked;
mod constant;
mod cores;
mod differential;
mod escalate;
mod instances;
mod models;
mod ranges;

pub use checked::Checked;
pub use constant::ConstantGoals;
pub use cores::UnsatCores;
pub use differential::Differential;
pub use escalate::{Escalate, Share};
pub use instances::Instances;
pub use models::RecentModels;
pub use ranges::RangeBounds;

use nearmiss_expr::{Evaluator, Inputs, Terms};

use crate::question::{Model, Question};

/// Whether a model is an answer to a question, by evaluation.
pub(crate) fn satisfies(
    evaluator: &mut Evaluator,
    terms: &Terms,
    question: &Question<'_>,
    model: &Model,
) -> bool {
    let input = model.over(question.recorded);
    evaluator.reset();
    // The goal first: it is what most inputs fail at.
    question
        .fixed
        .iter()
        .all(|&(byte, value)| input.byte(byte) == value)
        && evaluator.holds(terms, &input, question.goal)
        && question
            .path
            .iter()
            .all(|&condition| evaluator.holds(terms, &input, condition))
}
