//! Prints any trace: `nearmiss trace dump FILE`.
//!
//! Shows the records as they are, also those that a path would not use, so that a damaged or
//! surprising trace can be looked at.

use std::io::{self, Write};

use nearmiss_abi::check::Kind;
use nearmiss_abi::event::{Event, EventKind};
use nearmiss_abi::note::NoteKind;
use nearmiss_abi::op::Op;
use nearmiss_abi::site::SiteId;
use nearmiss_abi::term::{TERM_LENGTH, Term};
use nearmiss_abi::trace::{STATE_EXECUTED, STATE_EXITED, STATE_RUNNING};
use nearmiss_sites::Sites;

use crate::channel::channels;
use crate::raw::RawTrace;
use crate::verify::verify;

/// Writes a trace as text. `sites` may be empty: places are then shown as numbers.
pub fn dump(raw: &RawTrace, sites: &Sites, out: &mut dyn Write) -> io::Result<()> {
    dump_header(raw, out)?;
    let channels = channels(raw, None);
    for (number, channel) in channels.iter().enumerate() {
        let label = channel.label();
        let label = label.escape_debug();
        match channel.piece {
            Some(piece) => writeln!(out, "channel {number}: {label} ({} recorded)", piece.length)?,
            None => writeln!(
                out,
                "channel {number}: {label} ({} bytes)",
                channel.content.len()
            )?,
        }
    }
    for note in &raw.notes {
        let name = NoteKind::from_code(note.kind).map_or("unknown", NoteKind::name);
        let place = place(sites, SiteId(note.site));
        writeln!(out, "note {name} x {} at {place}", note.count)?;
    }
    for (number, snapshot) in raw.snapshots.iter().enumerate() {
        let (size, address) = (snapshot.size, snapshot.address);
        writeln!(out, "snapshot {number}: {size} bytes from {address:#x}")?;
    }
    let verified = verify(raw, &channels);
    for (label, term) in raw.terms.iter().enumerate().skip(1) {
        let mark = match verified.consistent.get(label) {
            Some(true) => "",
            Some(false) => "  # inconsistent",
            None => "  # unusable",
        };
        writeln!(out, "%{label} = {}{mark}", show_term(term))?;
    }
    for (number, event) in raw.events.iter().enumerate() {
        let name = EventKind::from_code(event.kind).map_or("unknown", EventKind::name);
        let place = place(sites, SiteId(event.site));
        let (label, truth) = (event.label, event.truth() as u8);
        let about = about(event);
        let before = if event.is_sensitive() {
            ", after something sensitive"
        } else {
            ""
        };
        let why = if event.is_by_length() {
            ", by a length"
        } else {
            ""
        };
        writeln!(
            out,
            "{number}: {name}{about} %{label} {truth} at {place}{why}{before}"
        )?;
    }
    for answer in &raw.answers {
        let place = place(sites, answer.site);
        writeln!(out, "answer {:#06x} at {place}", answer.digest)?;
    }
    Ok(())
}

fn dump_header(raw: &RawTrace, out: &mut dyn Write) -> io::Result<()> {
    let header = &raw.header;
    let state = match header.state {
        STATE_RUNNING => "running, or killed".to_string(),
        STATE_EXITED => format!("exited with status {}", header.exit_status),
        STATE_EXECUTED => "executed another program".to_string(),
        other => format!("unknown ({other})"),
    };
    let program = String::from_utf8_lossy(raw.program()).into_owned();
    writeln!(out, "program {}", program.escape_debug())?;
    writeln!(out, "process {}: {state}", header.pid)?;
    if header.stopped != 0 {
        writeln!(out, "the recording stopped early")?;
    }
    let counts = [
        (
            "terms",
            header.term_count.saturating_sub(1),
            raw.terms.len().saturating_sub(1),
        ),
        ("events", header.event_count, raw.events.len()),
        ("snapshots", header.snapshot_count, raw.snapshots.len()),
        ("blob bytes", header.blob_size, raw.blob.len()),
    ];
    for (what, promised, found) in counts {
        if promised == found as u64 {
            writeln!(out, "{what}: {found}")?;
        } else {
            writeln!(out, "{what}: {found} of {promised}, the file ends early")?;
        }
    }
    writeln!(out, "hook calls: {}", header.hook_calls)
}

/// What an event says beyond its term: the failure of a check, why a value was fixed.
fn about(event: &Event) -> String {
    let code = event.aux as u8;
    let words = match EventKind::from_code(event.kind) {
        Some(EventKind::Concretized) => NoteKind::from_code(code).map(NoteKind::name),
        Some(EventKind::Branch | EventKind::Switch) => None,
        _ => Kind::from_code(code).map(Kind::name),
    };
    words.map_or_else(String::new, |words| format!(" ({words})"))
}

/// `file:line:column (kind)`, or the number if the site is not known.
fn place(sites: &Sites, site: SiteId) -> String {
    let Some((unit, found)) = sites.get(site) else {
        return format!("site {:#x}", site.0);
    };
    let file = unit.files.get(found.file as usize).map_or("?", |file| file);
    let file = file.escape_debug();
    let (line, column) = (found.line, found.column);
    match found.check() {
        Some((kind, _)) => format!("{file}:{line}:{column} ({})", kind.name()),
        None => format!("{file}:{line}:{column}"),
    }
}

fn show_term(term: &Term) -> String {
    let Some(op) = Op::from_code(term.op) else {
        return format!("unknown operation {}", term.op);
    };
    let (name, width) = (op.name(), term.width);
    let (a, b, c) = (term.a, term.b, term.c);
    let value = term.value;
    match op {
        Op::Const => format!("{name}.{width} {:#x}", term.constant_value()),
        Op::Input => format!("{name} {a}[{b}]  ; {value:#x}"),
        Op::Extract => format!("{name}.{width} %{a} from {b}  ; {value:#x}"),
        Op::Read => format!("{name}.{width} snapshot {b} at %{a}  ; {value:#x}"),
        _ => {
            let operands: String = [a, b, c][..op.arity()]
                .iter()
                .map(|operand| format!(" %{operand}"))
                .collect();
            let flag = if term.flags & TERM_LENGTH != 0 {
                ", a length"
            } else {
                ""
            };
            format!("{name}.{width}{operands}  ; {value:#x}{flag}")
        }
    }
}
