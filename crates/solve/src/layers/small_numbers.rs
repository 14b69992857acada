//! Small numbers are easier to read, and loops that they bound are shorter.

use nearmiss_expr::{InputByte, Inputs, Terms};

use crate::query::{Answer, Effort, Model, Query, Reply, Solver};

/// Numbers lie at multiples of this, their lowest byte first.
const NUMBER_SIZE: u32 = 4;
/// How much is tried for smaller numbers.
const CONFLICTS: u32 = 200;

/// Where a model changes more than the lowest bytes of numbers, looks for one that does not.
pub struct SmallNumbers {
    inner: Box<dyn Solver>,
}

impl SmallNumbers {
    /// In front of another solver.
    pub fn new(inner: Box<dyn Solver>) -> SmallNumbers {
        SmallNumbers { inner }
    }
}

impl Solver for SmallNumbers {
    fn solve(&mut self, terms: &mut Terms, query: &Query<'_>) -> Reply {
        let mut reply = self.inner.solve(terms, query);
        if let Answer::Sat(model) = &reply.answer
            && changes_high_bytes(model, query.recorded)
        {
            let high = query.bytes.iter().copied().filter(is_high);
            let unchanged = high.map(|byte| (byte, query.recorded.byte(byte)));
            let fixed: Vec<(InputByte, u8)> =
                query.fixed.iter().copied().chain(unchanged).collect();
            let smaller = Query {
                fixed: &fixed,
                effort: Effort {
                    conflicts: Some(CONFLICTS),
                    ..query.effort
                },
                ..*query
            };
            let found = self.inner.solve(terms, &smaller).answer;
            if matches!(found, Answer::Sat(_)) {
                reply.answer = found;
            }
        }
        reply
    }
}

fn is_high(byte: &InputByte) -> bool {
    !byte.offset.is_multiple_of(NUMBER_SIZE)
}

fn changes_high_bytes(model: &Model, recorded: &dyn Inputs) -> bool {
    let mut decided = model.iter();
    decided.any(|(byte, value)| is_high(&byte) && recorded.byte(byte) != value)
}
