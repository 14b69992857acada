//! Captured processes: the meeting place that asks for them ([`Meeting`]), and what they leave
//! behind ([`Captured`]). `nearmiss_abi::capture` has the format and says what it is for.

mod meeting;
mod path;
mod read;

pub use meeting::Meeting;
pub use nearmiss_abi::capture::Loss;
pub use path::{CapturedPath, Entry, Nature};
pub use read::{Captured, Chance, Lost, Stdin};
