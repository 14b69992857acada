//! `nearmiss libc`: what is known about the functions of the C library.

use nearmiss_report::library;
use nearmiss_results::Library;

use crate::arguments::Format;
use crate::output;

/// Prints the table, or the part of one header.
pub fn list(format: Format, header: Option<&str>) -> Result<(), String> {
    let mut known = Library::known();
    if let Some(wanted) = header {
        known
            .functions
            .retain(|function| function.header.split(", ").any(|name| name == wanted));
        if known.functions.is_empty() {
            return Err(format!("{wanted}: no function of such a header is known"));
        }
    }
    let text = match format {
        Format::Text => library::text(&known),
        Format::Json => known.to_json(),
    };
    output::result(text.as_bytes())
}
