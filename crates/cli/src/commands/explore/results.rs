//! What `explore` tells: the report, on standard output or in a file.

use nearmiss_report::function::{files, text};
use nearmiss_report::text::Detail;
use nearmiss_results::FunctionReport;

use crate::arguments::{Format, ResultArguments};
use crate::files::Disk;
use crate::output;

/// What a report for people begins with in a file: so that it is known for one of ours.
const HEAD: &str = "Report of nearmiss explore\n\n";

/// Tells what was found, where the flags say; what is to be written into a file.
pub fn tell(
    report: &FunctionReport,
    arguments: &ResultArguments,
) -> Result<Option<String>, String> {
    let people = || shown(report, arguments.all);
    match (&arguments.output, arguments.format) {
        (Some(_), format) => {
            output::result(people().as_bytes())?;
            Ok(Some(match format {
                Format::Json => report.to_json(),
                Format::Text => format!("{HEAD}{}", people()),
            }))
        }
        (None, Format::Json) => output::result(report.to_json().as_bytes()).map(|()| None),
        (None, Format::Text) => output::result(people().as_bytes()).map(|()| None),
    }
}

/// The report for people.
pub fn shown(report: &FunctionReport, all: bool) -> String {
    let detail = match all {
        true => Detail::Full,
        false => Detail::Brief,
    };
    text::report(report, &Disk, detail)
}

/// Whether a file is one that [`tell`] gave.
pub fn is_report(bytes: &[u8]) -> bool {
    bytes.starts_with(HEAD.as_bytes()) || files::is_ours(bytes)
}
