//! Is there an input that takes this path and makes that goal true? The one question, and who
//! answers it; the only crate that knows a solver.
//!
//! | module | what it does |
//! | --- | --- |
//! | [`question`] | the question, the answer, the [`Solver`] trait |
//! | [`session`] | the questions about one path, as the engine asks them |
//! | [`answers`] | what all sessions of a campaign know |
//! | [`stack`] | how the layers are put together |
//! | [`slice`](mod@slice) | which conditions of a path matter for a goal |
//! | [`layers`] | those who answer without solving, and those who watch over the others |
//! | [`back`] | those who solve: our bit-blaster, Bitwuzla, another program |
//! | `blast` | terms as gates of a SAT instance |
//! | `nearest` | answers as close to the recorded input as can be |
//! | `tree` | questions about any set of conditions: all paths of a function |
//! | [`statistics`] | who answered how many questions, and how long it took |
//!
//! ```
//! # use nearmiss_expr::{InputByte, Op, Terms};
//! # use nearmiss_solve::{Answer, Limits, Stack};
//! let mut terms = Terms::new();
//! let byte = InputByte { channel: 0, offset: 0 };
//! let input = terms.input(byte);
//! let (five, nine) = (terms.constant(8, b'5'.into()), terms.constant(8, b'9'.into()));
//! let recorded = |_: InputByte| b'3';
//! let mut session = Stack::default().session(&recorded);
//! let is_digit = terms.binary(Op::Ule, input, nine);
//! session.assume(&terms, is_digit);
//! let goal = terms.binary(Op::Ult, five, input);
//! let Answer::Sat(model) = session.ask_nearest(&mut terms, goal, &Limits::default()) else {
//!     panic!("there is one");
//! };
//! assert_eq!(model.get(byte), Some(b'6'));
//! ```

pub mod answers;
pub mod back;
mod blast;
pub mod layers;
mod nearest;
pub mod question;
pub mod session;
pub mod slice;
pub mod stack;
pub mod statistics;
mod tree;

pub use answers::Answers;
pub use nearmiss_bitwuzla::interrupt_by;
pub use question::{Answer, Layer, Limits, Model, Reason, Solver};
pub use session::Session;
pub use slice::Slice;
pub use stack::{Backend, Stack};
pub use statistics::Statistics;
pub use tree::{TreeFigures, TreeSolver};
