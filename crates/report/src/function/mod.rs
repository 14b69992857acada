//! What is made of a [`FunctionReport`]: pure functions.
//!
//! | module | what it makes |
//! | --- | --- |
//! | [`text`] | the report for a terminal |
//! | [`reach`] | the answer about a target |
//! | [`single`] | one finding or one test of it |
//! | [`files`] | every file that can be asked for, and whose file one is |
//! | `c` | a C file with a test for each path |
//! | `ktest`, `testcomp`, `corpus` | the inputs in the forms of other tools |

mod c;
mod corpus;
mod ctype;
mod failures;
pub mod files;
mod infeasible;
mod ktest;
mod outcomes;
pub mod reach;
mod rows;
#[cfg(test)]
mod samples;
mod sha256;
pub mod single;
mod testcomp;
pub mod text;
mod value;

pub use c::Framework;
pub use failures::test_of;
use nearmiss_results::FunctionReport;

/// The versioned JSON form.
pub fn json(report: &FunctionReport) -> String {
    report.to_json()
}
