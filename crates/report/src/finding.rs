//! One finding as a block of text.

use std::fmt::Write;

use nearmiss_results::{Finding, Status, Zeros};

use crate::text::{Detail, Lookup};
use crate::words::{around, counted, shortened, spelled};
use crate::{beside, changes, escape, shell};

/// Longest command line that is shown of a test.
const MAX_COMMAND: usize = 60;

/// Most programs that are named.
const MAX_PROGRAMS: usize = 8;

/// Longest part of a source line that is shown.
const MAX_SOURCE: usize = 100;

/// A block: what, where, the source line, how far from which test, the input beside the test's
/// own, how to see it.
pub fn block(found: &Finding, lookup: &dyn Lookup, detail: Detail) -> String {
    let mut text = line(found);
    // Writing into a string does not fail.
    let _ = write_source(&mut text, found, lookup);
    if !found.message.is_empty() {
        let _ = writeln!(text, "  {}", escape::text(&found.message));
    }
    let _ = write_callers(&mut text, found, detail);
    let _ = write_tests(&mut text, found);
    if found.changes.is_empty() {
        text += "  the recorded input itself fails\n";
    } else {
        text += "  input that fails:\n";
        for one in &found.repeated {
            let _ = writeln!(text, "    {}", changes::repeated(one));
        }
        let _ = write_calls(&mut text, found);
        text += &beside::block(found, lookup, detail);
    }
    let _ = write_bare(&mut text, found);
    if !found.your_build.is_empty() {
        let _ = writeln!(text, "  your build: {}", ending(&found.your_build));
    }
    let _ = writeln!(text, "  replay: {}", escape::text(&found.replay));
    text
}

/// How a program ended, in words.
fn ending(ended: &str) -> String {
    const SIGNALS: [(&str, &str); 6] = [
        ("signal 4", "SIGILL"),
        ("signal 6", "SIGABRT"),
        ("signal 7", "SIGBUS"),
        ("signal 8", "SIGFPE"),
        ("signal 9", "SIGKILL"),
        ("signal 11", "SIGSEGV"),
    ];
    if let Some((_, name)) = SIGNALS.iter().find(|(signal, _)| *signal == ended) {
        return (*name).to_string();
    }
    match ended.strip_prefix("exit ") {
        Some(status) => format!("exits with {status}"),
        None => ended.to_string(),
    }
}

/// The same for a function that was explored: there is no test beside which the input could stand.
/// `more` is a block of what else is known.
pub fn in_function(
    found: &Finding,
    input: Option<&str>,
    more: &str,
    lookup: &dyn Lookup,
) -> String {
    let mut text = line(found);
    // Writing into a string does not fail.
    let _ = write_source(&mut text, found, lookup);
    if !found.message.is_empty() {
        let _ = writeln!(text, "  {}", escape::text(&found.message));
    }
    if let Some(input) = input {
        let _ = writeln!(text, "  input that fails: {input}");
    }
    text += more;
    if !found.replay.is_empty() {
        let _ = writeln!(text, "  replay: {}", escape::text(&found.replay));
    }
    text
}

/// `NM-1 out-of-bounds-write (confirmed) at x.c:42:5 in f`.
pub fn line(found: &Finding) -> String {
    heading(found) + "\n"
}

/// The same with how far it is from how many tests, where that says something.
pub fn line_of_list(found: &Finding) -> String {
    let mut text = heading(found);
    if found.distance > 0 {
        let _ = write!(text, ", distance {}", found.distance);
    }
    if found.tests > 1 {
        let _ = write!(text, ", {} tests", found.tests);
    }
    text + "\n"
}

fn heading(found: &Finding) -> String {
    let status = match found.status {
        Status::Confirmed => "confirmed",
        Status::Unconfirmed => "unconfirmed",
    };
    let mut text = format!("{} {} ({status})", found.id, found.kind.name());
    if !found.file.is_empty() {
        let _ = write!(text, " at {}", escape::text(&found.file));
        for number in [found.line, found.column] {
            if number != 0 {
                let _ = write!(text, ":{number}");
            }
        }
    }
    if !found.function.is_empty() {
        let _ = write!(text, " in {}", escape::text(&found.function));
    }
    text
}

fn write_source(text: &mut String, found: &Finding, lookup: &dyn Lookup) -> std::fmt::Result {
    let Some(line) = lookup.source_line(&found.file, found.line) else {
        return Ok(());
    };
    let number = found.line.to_string();
    let shown = escape::text(&line.replace('\t', "    "));
    // The column counts bytes; the caret stands under the character.
    let before = match (found.column as usize).checked_sub(1) {
        Some(bytes) if bytes < line.len() => Some(&line.as_bytes()[..bytes]),
        _ => None,
    };
    let before = before.map(|bytes| String::from_utf8_lossy(bytes).replace('\t', "    "));
    let caret = before.map(|before| escape::text(&before).chars().count());
    let (shown, indent) = around(shown.trim_end(), caret.unwrap_or(0), MAX_SOURCE);
    writeln!(text, "  {number} | {shown}")?;
    if caret.is_none() {
        return Ok(());
    }
    writeln!(
        text,
        "  {} | {}^",
        " ".repeat(number.len()),
        " ".repeat(indent)
    )
}

/// The calls of a unit test that have other data, beside the test's own.
fn write_calls(text: &mut String, found: &Finding) -> std::fmt::Result {
    let calls = found.test.calls.iter();
    for call in calls.filter(|call| !call.failing.is_empty()) {
        let function = escape::text(&call.function);
        let as_c =
            |arguments: &[String]| escape::text(&format!("{function}({})", arguments.join(", ")));
        match call.file.as_str() {
            "" => writeln!(text, "    call {} of {function}:", call.number)?,
            file => {
                let (file, caller) = (escape::text(file), escape::text(&call.caller));
                writeln!(
                    text,
                    "    call {} at {file}:{} in {caller}:",
                    call.number, call.line
                )?
            }
        }
        writeln!(text, "      test: {}", as_c(&call.arguments))?;
        writeln!(text, "      new:  {}", as_c(&call.failing))?;
    }
    Ok(())
}

/// Texts that are given otherwise than by the test: what the tests' own calls say about the zero behind them.
fn write_bare(text: &mut String, found: &Finding) -> std::fmt::Result {
    let bare = found.test.calls.iter();
    let mut bare: Vec<_> = bare
        .filter_map(|call| Some((&call.function, call.bare?)))
        .collect();
    bare.dedup();
    for (function, Zeros { read, looked }) in bare {
        let read = if read == 0 {
            "none".to_string()
        } else {
            read.to_string()
        };
        let function = escape::text(function);
        writeln!(
            text,
            "    texts that {function} is given with their length end there, without a zero: {read} of {looked} such calls of the tests read one"
        )?;
    }
    Ok(())
}

/// Who called: the rest of the call chain.
fn write_callers(text: &mut String, found: &Finding, detail: Detail) -> std::fmt::Result {
    let callers = found.stack.get(1..).unwrap_or_default();
    if callers.is_empty() {
        return Ok(());
    }
    let shown: Vec<String> = callers
        .iter()
        .take(detail.rows())
        .map(|frame| {
            let (function, file) = (escape::text(&frame.function), escape::text(&frame.file));
            format!("{function} at {file}:{}", frame.line)
        })
        .collect();
    let more = match callers.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    writeln!(text, "  called by {}{more}", shown.join(", "))
}

/// The programs whose tests lead to it, if they are several.
fn write_programs(text: &mut String, found: &Finding) -> std::fmt::Result {
    let names = found.leads.iter().map(|lead| {
        let name = lead.program.file_name().unwrap_or_default();
        escape::text(&name.to_string_lossy())
    });
    let names: std::collections::BTreeSet<String> = names.collect();
    if names.len() < 2 {
        return Ok(());
    }
    let shown: Vec<String> = names.iter().take(MAX_PROGRAMS).cloned().collect();
    let more = match names.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    writeln!(
        text,
        "  in {} programs: {}{more}",
        names.len(),
        shown.join(", ")
    )
}

/// How far from which test. A single run at distance 0 needs no words.
fn write_tests(text: &mut String, found: &Finding) -> std::fmt::Result {
    let test = &found.test;
    if found.distance > 0 || !test.id.is_empty() {
        writeln!(text, "  {}", distance_words(found))?;
    }
    if test.id.is_empty() {
        return Ok(());
    }
    let (tests, nearest) = match found.tests {
        0 | 1 => ("1 test leads to it".to_string(), ":"),
        more => (
            format!("{} lead to it", counted(more, "test")),
            "; nearest:",
        ),
    };
    let id = escape::text(&test.id);
    let command = shortened(&shell::command_line(&test.argv), MAX_COMMAND);
    writeln!(text, "  {tests}{nearest} {id} `{command}`")?;
    write_programs(text, found)
}

fn distance_words(found: &Finding) -> String {
    let distance = found.distance;
    if !found.repeated.is_empty() {
        return format!("distance {distance}: the test's input with a part of it repeated");
    }
    let branches = match distance {
        0 => return "distance 0: on the test's own path".into(),
        1 => "branch",
        _ => "branches",
    };
    let number = spelled(distance);
    format!("distance {distance}: {number} {branches} from the test's path")
}
