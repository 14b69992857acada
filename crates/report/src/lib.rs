//! Results to text and JSON: pure functions, one file per way to show them.
//!
//! Whatever comes from the tested program (names, source lines, input bytes, messages) is
//! untrusted: [`escape`] keeps it from steering a terminal.

pub mod escape;
mod finding;
pub mod library;
mod summary;
pub mod text;

use nearmiss_results::Report;

/// The versioned JSON form.
pub fn json(report: &Report) -> String {
    report.to_json()
}
