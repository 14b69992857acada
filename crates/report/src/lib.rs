//! Results to text and JSON: pure functions, one file per way to show them.
//!
//! Whatever comes from the tested program (names, source lines, input bytes, messages) is
//! untrusted: [`escape`] keeps it from steering a terminal.

mod aligned;
mod beside;
mod changes;
pub mod escape;
mod exploration;
mod finding;
pub mod function;
mod hexdump;
mod inputs;
pub mod library;
mod marked;
pub mod precondition;
#[cfg(test)]
mod samples;
pub mod sarif;
pub mod shell;
pub mod statistics;
mod suite;
mod summary;
mod table;
pub mod text;
pub mod unit_test;
pub mod words;

use nearmiss_results::Report;

/// The versioned JSON form.
pub fn json(report: &Report) -> String {
    report.to_json()
}
