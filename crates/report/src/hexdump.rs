//! Binary contents: rows of bytes around each change, the test's and the new ones side by side.

use std::fmt::Write;

use crate::aligned::Cell;

/// Bytes in a row.
const ROW: usize = 8;

/// Rows with a change and those next to them, at most `max_rows`; changed bytes are in brackets.
pub fn rows(cells: &[Cell], indent: &str, max_rows: usize) -> String {
    let rows: Vec<&[Cell]> = cells.chunks(ROW).collect();
    let wanted = wanted(&rows);
    let mut text = String::new();
    let old = format!("test{}", " ".repeat(ROW * 3 - 3));
    // Writing into a string does not fail.
    let _ = writeln!(text, "{indent}offset    {old}| new");
    let (mut offset, mut shown, mut is_gap) = (0, 0, false);
    for (row, is_wanted) in rows.iter().zip(wanted) {
        let is_shown = is_wanted && shown < max_rows;
        if is_shown {
            let (old, new) = (side(row, |cell| cell.old), side(row, |cell| cell.new));
            let line = format!("{offset:08x} {old} |{new}");
            let _ = writeln!(text, "{indent}{}", line.trim_end());
            shown += 1;
        } else if !is_gap {
            let _ = writeln!(text, "{indent}…");
        }
        is_gap = !is_shown;
        offset += row.iter().filter(|cell| cell.old.is_some()).count();
    }
    text
}

fn wanted(rows: &[&[Cell]]) -> Vec<bool> {
    let is_changed = |row: &&[Cell]| row.iter().any(Cell::is_changed);
    let changed: Vec<bool> = rows.iter().map(is_changed).collect();
    let near = |index: usize| {
        changed[index.saturating_sub(1)..(index + 2).min(changed.len())].contains(&true)
    };
    (0..rows.len()).map(near).collect()
}

/// ` 00 00[04]00 `: as wide for every row.
fn side(row: &[Cell], of: fn(&Cell) -> Option<u8>) -> String {
    let mut text = String::new();
    let mut was_changed = false;
    for cell in row {
        // What is not there cannot be marked.
        let is_changed = cell.is_changed() && of(cell).is_some();
        text.push(match (was_changed, is_changed) {
            (false, true) => '[',
            (true, false) => ']',
            _ => ' ',
        });
        match of(cell) {
            // Writing into a string does not fail.
            Some(byte) => drop(write!(text, "{byte:02x}")),
            None => text.push_str("  "),
        }
        was_changed = is_changed;
    }
    text.push(if was_changed { ']' } else { ' ' });
    format!("{text:<width$}", width = ROW * 3 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unchanged(size: u8) -> Vec<Cell> {
        (0..size).map(Cell::same).collect()
    }

    #[test]
    fn rows_around_a_change() {
        let mut cells = unchanged(64);
        cells[27].new = Some(0xff);
        cells[28].new = Some(0xee);
        assert_eq!(
            rows(&cells, "  ", 9),
            "  offset    test                     | new
  …
  00000010  10 11 12 13 14 15 16 17  | 10 11 12 13 14 15 16 17
  00000018  18 19 1a[1b 1c]1d 1e 1f  | 18 19 1a[ff ee]1d 1e 1f
  00000020  20 21 22 23 24 25 26 27  | 20 21 22 23 24 25 26 27
  …
"
        );
    }

    #[test]
    fn bytes_that_come_or_go_leave_a_blank() {
        let mut cells = unchanged(6);
        cells[1].new = None;
        cells[4].old = None;
        assert_eq!(
            rows(&cells, "", 9),
            "offset    test                     | new
00000000  00[01]02 03    05        | 00    02 03[04]05
"
        );
    }

    #[test]
    fn long_changes_are_not_shown_whole() {
        let cells: Vec<Cell> = (0..100)
            .map(|byte| Cell {
                old: None,
                new: Some(byte),
            })
            .collect();
        let text = rows(&cells, "", 3);
        assert_eq!(text.lines().count(), 5);
        assert!(text.ends_with("…\n"));
    }
}
