//! Changes of an input as a list: for what cannot be shown beside the test's own.

use nearmiss_results::{Change, Repeated, Resized};

use crate::escape;
use crate::words::counted;

/// Longest run of changed bytes that is shown whole.
const MAX_RUN: usize = 16;

/// `argv[1]: 10 -> 1024 bytes`, `stdin, line at byte 6: 3 -> 80 bytes`.
pub fn length(resized: &Resized) -> String {
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
pub fn change(change: &Change) -> String {
    let channel = escape::text(&change.channel);
    let place = match change.from.len() {
        0 => format!("at byte {}", change.offset),
        1 => format!("byte {}", change.offset),
        size => format!(
            "bytes {}-{}",
            change.offset,
            change.offset + size as u64 - 1
        ),
    };
    let moved = |bytes: &[u8], verb: &str| {
        let (shown, _) = shown(bytes);
        let offset = change.offset;
        let size = counted(bytes.len() as u64, "byte");
        format!("{channel}, at byte {offset}: {size} {shown} {verb}")
    };
    match (change.from.is_empty(), change.to.is_empty()) {
        (true, _) => moved(&change.to, "put in"),
        (_, true) => moved(&change.from, "taken out"),
        _ => {
            let ((from, from_hex), (to, to_hex)) = (shown(&change.from), shown(&change.to));
            format!("{channel}, {place}: {from} -> {to} ({from_hex} -> {to_hex})")
        }
    }
}

/// `argv[1], at byte 9: "b" 30 times more`.
pub fn repeated(repeated: &Repeated) -> String {
    let Repeated {
        channel,
        offset,
        part,
        times,
    } = repeated;
    let (channel, (shown, _)) = (escape::text(channel), shown(part));
    let times = counted(*times, "time");
    format!("{channel}, at byte {offset}: {shown} {times} more")
}

/// The beginning of a run of bytes, as text and as digits.
fn shown(bytes: &[u8]) -> (String, String) {
    let cut = &bytes[..bytes.len().min(MAX_RUN)];
    let more = if cut.len() < bytes.len() { "…" } else { "" };
    (escape::bytes(cut) + more, escape::hex(cut) + more)
}
