//! One finding as a block of text.

use std::fmt::Write;

use nearmiss_results::{Change, Finding, Input, Resized, Status};

use crate::escape;
use crate::text::SourceLine;

/// Longest input that is shown whole.
const WHOLE_INPUT: usize = 64;
/// Most changes that are shown.
const MAX_CHANGES: usize = 12;
/// Longest run of changed bytes that is shown whole.
const MAX_RUN: usize = 16;

/// A block: what, where, the source line, the changed bytes, how to see it.
pub fn block(found: &Finding, source: &SourceLine) -> String {
    let mut text = line(found);
    // Writing into a string does not fail.
    let _ = write_source(&mut text, found, source);
    if !found.message.is_empty() {
        let _ = writeln!(text, "  {}", escape::text(&found.message));
    }
    let _ = write_changes(&mut text, found);
    let _ = writeln!(text, "  replay: {}", escape::text(&found.replay));
    text
}

/// `NM-1 out-of-bounds-write (confirmed) at x.c:42:5 in f`.
pub fn line(found: &Finding) -> String {
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
    text.push('\n');
    text
}

fn write_source(text: &mut String, found: &Finding, source: &SourceLine) -> std::fmt::Result {
    let Some(line) = source(&found.file, found.line) else {
        return Ok(());
    };
    let number = found.line.to_string();
    let shown = escape::text(&line.replace('\t', "    "));
    writeln!(text, "  {number} | {}", shown.trim_end())?;
    let column = found.column as usize;
    if column == 0 || column > line.len() {
        return Ok(());
    }
    // The column counts bytes; the caret stands under the character.
    let before = String::from_utf8_lossy(&line.as_bytes()[..column - 1]).replace('\t', "    ");
    let indent = escape::text(&before).chars().count();
    writeln!(
        text,
        "  {} | {}^",
        " ".repeat(number.len()),
        " ".repeat(indent)
    )
}

fn write_changes(text: &mut String, found: &Finding) -> std::fmt::Result {
    if found.changes.is_empty() {
        return writeln!(text, "  the recorded input itself fails");
    }
    writeln!(text, "  input that fails:")?;
    for resized in found.lengths.iter().take(MAX_CHANGES) {
        writeln!(text, "    {}", show_length(resized))?;
    }
    for change in found.changes.iter().take(MAX_CHANGES) {
        writeln!(text, "    {}", show_change(change))?;
    }
    let more = found.changes.len().saturating_sub(MAX_CHANGES);
    if more > 0 {
        writeln!(text, "    … and {more} more places")?;
    }
    let is_changed = |channel: &String| found.changes.iter().any(|one| one.channel == *channel);
    for (channel, input) in found
        .input
        .iter()
        .filter(|(channel, _)| is_changed(channel))
    {
        let channel = escape::text(channel);
        match input {
            Input::Bytes(bytes) if bytes.len() <= WHOLE_INPUT => {
                writeln!(text, "    {channel} = {}", escape::bytes(bytes))?;
            }
            Input::Bytes(bytes) => writeln!(text, "    {channel}: {} bytes", bytes.len())?,
            Input::File(path) => {
                let path = path.display().to_string();
                writeln!(text, "    {channel} in {}", escape::text(&path))?;
            }
        }
    }
    Ok(())
}

/// `argv[1]: 10 -> 1024 bytes`, `stdin, line at byte 6: 3 -> 80 bytes`.
fn show_length(resized: &Resized) -> String {
    let channel = escape::text(&resized.channel);
    let Resized {
        offset, from, to, ..
    } = resized;
    match resized.line {
        true => format!("{channel}, line at byte {offset}: {from} -> {to} bytes"),
        false => format!("{channel}: {from} -> {to} bytes"),
    }
}

/// `argv[1], byte 3: "6" -> "8" (36 -> 38)`; `argv[1], at byte 10: 1014 bytes "AA"… put in`.
fn show_change(change: &Change) -> String {
    let channel = escape::text(&change.channel);
    let moved = |bytes: &[u8], words: &str| {
        let cut = &bytes[..bytes.len().min(MAX_RUN)];
        let more = if cut.len() < bytes.len() { "…" } else { "" };
        let (offset, size) = (change.offset, bytes.len());
        let shown = escape::bytes(cut);
        let plural = if size == 1 { "" } else { "s" };
        format!("{channel}, at byte {offset}: {size} byte{plural} {shown}{more} {words}")
    };
    match (change.from.is_empty(), change.to.is_empty()) {
        (true, _) => return moved(&change.to, "put in"),
        (_, true) => return moved(&change.from, "taken out"),
        _ => {}
    }
    let place = match change.from.len() {
        0 | 1 => format!("byte {}", change.offset),
        size => format!(
            "bytes {}-{}",
            change.offset,
            change.offset + size as u64 - 1
        ),
    };
    let shown = |bytes: &[u8]| {
        let cut = &bytes[..bytes.len().min(MAX_RUN)];
        let more = if cut.len() < bytes.len() { "…" } else { "" };
        (escape::bytes(cut) + more, escape::hex(cut) + more)
    };
    let ((from, from_hex), (to, to_hex)) = (shown(&change.from), shown(&change.to));
    format!("{channel}, {place}: {from} -> {to} ({from_hex} -> {to_hex})")
}
