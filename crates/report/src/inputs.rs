//! How much input was seen, as text.

use std::fmt::{self, Write};

use nearmiss_results::{InputFigures, Summary};

use crate::escape;
use crate::words::counted;

/// Most programs that are shown.
const MAX_PROGRAMS: usize = 10;

/// A line for all recorded runs and, where there are several programs, one for each.
pub fn write(text: &mut String, summary: &Summary) -> fmt::Result {
    if summary.inputs.is_empty() {
        return Ok(());
    }
    writeln!(text, "Input seen: {}.", amounts(&summary.inputs))?;
    if summary.programs.len() < 2 {
        return Ok(());
    }
    for one in summary.programs.iter().take(MAX_PROGRAMS) {
        let program = escape::text(&one.program);
        writeln!(text, "  {program}: {}", amounts(&one.inputs))?;
    }
    match summary.programs.len().saturating_sub(MAX_PROGRAMS) {
        0 => Ok(()),
        more => writeln!(text, "  … and {}", counted(more as u64, "more program")),
    }
}

/// `2 arguments of 7 bytes, standard input of 1 byte, 1 file of 1204 bytes`.
fn amounts(inputs: &[InputFigures]) -> String {
    // Every program has a standard input; an empty one is worth a word only where there is nothing else.
    let is_empty = |one: &&InputFigures| one.kind == "stdin" && one.bytes == 0;
    let seen: Vec<&InputFigures> = inputs.iter().filter(|one| !is_empty(one)).collect();
    if seen.is_empty() {
        return "none".into();
    }
    let words = seen.into_iter().map(|one| {
        let what = match (one.kind.as_str(), one.count) {
            ("stdin", 1) => "standard input".to_string(),
            ("stdin", count) => format!("standard input {count} times"),
            ("memory", count) => counted(count, "named input"),
            (kind, count) => counted(count, kind),
        };
        format!("{what} of {}", counted(one.bytes, "byte"))
    });
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_in_words() {
        let row = |kind: &str, count, bytes| InputFigures {
            kind: kind.into(),
            count,
            bytes,
        };
        let all = [row("argument", 2, 7), row("stdin", 1, 1), row("file", 1, 0)];
        assert_eq!(
            amounts(&all),
            "2 arguments of 7 bytes, standard input of 1 byte, 1 file of 0 bytes"
        );
        assert_eq!(amounts(&[]), "none");
        assert_eq!(amounts(&[row("stdin", 3, 0)]), "none");
    }
}
