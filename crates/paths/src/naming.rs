//! Files as the user named them: sanitizers, and checks that call a handler, say where a file is from the
//! root on.

use std::path::{Path, PathBuf};

use nearmiss_results::FunctionReport;

/// Gives every file in a report the name that the user has for it.
pub fn restore(report: &mut FunctionReport, files: &[PathBuf]) {
    let full = |named: &PathBuf| Some((named.canonicalize().ok()?, named.display().to_string()));
    let known: Vec<(PathBuf, String)> = files.iter().filter_map(full).collect();
    for file in named_files(report) {
        let is_it = |(full, _): &&(PathBuf, String)| full == Path::new(file.as_str());
        if let Some((_, named)) = known.iter().find(is_it) {
            file.clone_from(named);
        }
    }
}

fn named_files(report: &mut FunctionReport) -> impl Iterator<Item = &mut String> {
    let paths = (report.tests.iter_mut().map(|test| &mut test.path)).chain(
        report
            .infeasible
            .iter_mut()
            .map(|partial| &mut partial.path),
    );
    (paths.flatten().map(|step| &mut step.file))
        .chain(report.findings.iter_mut().map(|found| &mut found.file))
        .chain(report.notes.iter_mut().map(|note| &mut note.file))
}
