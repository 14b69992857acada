//! Is there an input that takes this path and makes that goal true? The one query, and what
//! answers it; the only crate that knows a solver.
//!
//! | module | what it does |
//! | --- | --- |
//! | [`query`] | the query, the reply, the [`Solver`] trait |
//! | `front` | a query in, a reply with answer, layer and time out |
//! | [`session`] | queries about one path: incremental by prefix |
//! | `tree` | queries about all paths of a function: incremental by assumptions |
//! | [`assignments`] | which truth assignments to predicates are feasible |
//! | [`answers`] | what all sessions of a campaign know |
//! | [`stack`] | how the layers are put together |
//! | [`slice`](mod@slice) | which constraints of a path matter for a goal |
//! | [`layers`] | what answers without solving, and what watches over the others |
//! | [`back`] | what solves: our bit-blaster, Bitwuzla, another program |
//! | `blast` | terms as gates of a SAT instance |
//! | `nearest` | answers as close to the recorded input as can be |
//! | [`statistics`] | which layer answered how many queries, and how long it took |
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
//! let reply = session.query_nearest(&mut terms, goal, &Limits::default());
//! let Answer::Sat(model) = reply.answer else {
//!     panic!("there is one");
//! };
//! assert_eq!(model.get(byte), Some(b'6'));
//! ```

pub mod answers;
pub mod assignments;
pub mod back;
mod blast;
mod front;
pub mod layers;
mod nearest;
pub mod query;
pub mod session;
pub mod slice;
pub mod stack;
pub mod statistics;
mod tree;

pub use answers::Answers;
pub use nearmiss_bitwuzla::{Deadline, interrupt_by, thread_time};
pub use query::{Answer, Layer, Limits, Model, Reason, Reply, Solver};
pub use session::Session;
pub use slice::Slice;
pub use stack::{Backend, Stack};
pub use statistics::Statistics;
pub use tree::TreeSession;
