//! Two lines of text, the test's and the new one, with carets under what changed.

use std::fmt::Write;

use crate::aligned::Cell;
use crate::escape;

/// Longest row, without what stands before it.
const WIDTH: usize = 88;
/// Glyphs that are shown before and after a change, where the whole does not fit.
const CONTEXT: usize = 16;
/// How much of a long change is shown: its beginning and its end.
const CHANGE_HEAD: usize = 24;
const CHANGE_TAIL: usize = 8;

/// A character or an escape on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glyph {
    old: String,
    new: String,
    is_changed: bool,
}

impl Glyph {
    /// The same on both sides.
    pub fn same(text: &str) -> Glyph {
        Glyph {
            old: text.to_string(),
            new: text.to_string(),
            is_changed: false,
        }
    }

    /// Something that is left out, on the sides that have it.
    fn ellipsis(left_out: &[Glyph]) -> Glyph {
        let side = |of: fn(&Glyph) -> &String| match left_out.iter().all(|one| of(one).is_empty()) {
            true => String::new(),
            false => "…".to_string(),
        };
        Glyph {
            old: side(|glyph| &glyph.old),
            new: side(|glyph| &glyph.new),
            is_changed: left_out.iter().any(|glyph| glyph.is_changed),
        }
    }

    /// What stands on the new side.
    pub fn new_text(&self) -> &str {
        &self.new
    }

    fn width(&self) -> usize {
        columns(&self.old).max(columns(&self.new))
    }
}

fn columns(text: &str) -> usize {
    text.chars().count()
}

/// Cells as characters; bytes that are none are written by `escape_byte`.
pub fn glyphs(cells: &[Cell], escape_byte: impl Fn(u8) -> String) -> Vec<Glyph> {
    let mut glyphs = Vec::new();
    let mut rest = cells;
    while let Some((first, after)) = rest.split_first() {
        if let Some(character) = character(rest) {
            glyphs.push(Glyph::same(&character.to_string()));
            rest = &rest[character.len_utf8()..];
            continue;
        }
        let side = |byte: Option<u8>| byte.map(&escape_byte).unwrap_or_default();
        glyphs.push(Glyph {
            old: side(first.old),
            new: side(first.new),
            is_changed: first.is_changed(),
        });
        rest = after;
    }
    glyphs
}

/// The character of several bytes that the cells begin with, if none of these has changed and it
/// may be shown.
pub fn character(cells: &[Cell]) -> Option<char> {
    let unchanged = cells.iter().take(4).take_while(|cell| !cell.is_changed());
    let bytes: Vec<u8> = unchanged.filter_map(|cell| cell.new).collect();
    let valid = bytes.utf8_chunks().next()?.valid();
    let character = valid.chars().next()?;
    (!character.is_ascii() && !escape::steers(character)).then_some(character)
}

/// Rows of both sides, each with carets where it has changed; at most `max_rows` of them.
pub fn rows(glyphs: &[Glyph], indent: &str, max_rows: usize) -> String {
    let mut text = String::new();
    let rows = split(cut(glyphs));
    for row in rows.iter().take(max_rows) {
        let old: String = row.iter().map(|glyph| glyph.old.as_str()).collect();
        let new: String = row.iter().map(|glyph| glyph.new.as_str()).collect();
        let (old_marks, new_marks) = (marks(row, |one| &one.old), marks(row, |one| &one.new));
        // Writing into a string does not fail.
        let _ = writeln!(text, "{indent}test: {old}");
        if old_marks != new_marks && !old_marks.is_empty() {
            let _ = writeln!(text, "{indent}      {old_marks}");
        }
        let _ = writeln!(text, "{indent}new:  {new}");
        if !new_marks.is_empty() {
            let _ = writeln!(text, "{indent}      {new_marks}");
        }
    }
    if rows.len() > max_rows {
        let _ = writeln!(text, "{indent}… and more");
    }
    text
}

fn marks(row: &[Glyph], side: fn(&Glyph) -> &String) -> String {
    let mark = |glyph: &Glyph| {
        let mark = if glyph.is_changed { "^" } else { " " };
        mark.repeat(columns(side(glyph)))
    };
    let marks: String = row.iter().map(mark).collect();
    marks.trim_end().to_string()
}

/// Leaves out what is far from any change, and the middle of long changes, if that is needed.
fn cut(glyphs: &[Glyph]) -> Vec<Glyph> {
    if glyphs.iter().map(Glyph::width).sum::<usize>() <= WIDTH {
        return glyphs.to_vec();
    }
    let is_kept = kept(glyphs);
    let mut shown = Vec::new();
    let mut start = 0;
    for group in is_kept.chunk_by(|left, right| left == right) {
        let part = &glyphs[start..start + group.len()];
        start += group.len();
        match group[0] {
            false if part.len() > 1 => shown.push(Glyph::ellipsis(part)),
            _ => shown.extend_from_slice(part),
        }
    }
    shown
}

fn kept(glyphs: &[Glyph]) -> Vec<bool> {
    let mut is_kept = vec![false; glyphs.len()];
    let mut start = 0;
    for run in glyphs.chunk_by(|left, right| left.is_changed == right.is_changed) {
        let end = start + run.len();
        if run[0].is_changed {
            let head = (start + CHANGE_HEAD).min(end);
            let tail = end.saturating_sub(CHANGE_TAIL).max(start);
            is_kept[start.saturating_sub(CONTEXT)..head].fill(true);
            is_kept[tail..(end + CONTEXT).min(glyphs.len())].fill(true);
        }
        start = end;
    }
    is_kept
}

/// Rows that fit.
fn split(glyphs: Vec<Glyph>) -> Vec<Vec<Glyph>> {
    let mut rows = vec![Vec::new()];
    let mut width = 0;
    for glyph in glyphs {
        if width + glyph.width() > WIDTH {
            rows.push(Vec::new());
            width = 0;
        }
        width += glyph.width();
        rows.last_mut().expect("there is always one").push(glyph);
    }
    rows.retain(|row| row.iter().any(|glyph| glyph.is_changed));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(pairs: &[(&str, &str)]) -> Vec<Cell> {
        let mut cells = Vec::new();
        for (old, new) in pairs {
            let (old, new) = (old.as_bytes(), new.as_bytes());
            cells.extend((0..old.len().max(new.len())).map(|index| Cell {
                old: old.get(index).copied(),
                new: new.get(index).copied(),
            }));
        }
        cells
    }

    fn show(pairs: &[(&str, &str)]) -> String {
        rows(&glyphs(&cells(pairs), escape::byte), "", 2)
    }

    #[test]
    fn one_line_of_carets_where_both_are_alike() {
        assert_eq!(
            show(&[("Größe ", "Größe "), ("3", "5"), (".", ".")]),
            "test: Größe 3.\nnew:  Größe 5.\n            ^\n"
        );
    }

    #[test]
    fn each_side_has_its_own_where_they_are_not() {
        assert_eq!(
            show(&[("ab", "ab"), ("c", ""), ("d", "d")]),
            "test: abcd\n        ^\nnew:  abd\n"
        );
        assert_eq!(
            show(&[("a", "a"), ("b", "\x1b"), ("d", "d")]),
            "test: abd\n       ^\nnew:  a\\x1bd\n       ^^^^\n"
        );
    }

    #[test]
    fn wide_lines_are_cut_around_the_change() {
        let long = "0123456789".repeat(20);
        assert_eq!(
            show(&[(&long, &long), ("3", "5"), (&long, &long)]),
            "test: …456789012345678930123456789012345…\n\
             new:  …456789012345678950123456789012345…\n                       ^\n"
        );
    }

    #[test]
    fn long_changes_have_a_beginning_and_an_end() {
        let long = "A".repeat(500);
        let shown = show(&[("x", "x"), ("", &long), (".txt", ".txt")]);
        let run = format!("{}…{}", "A".repeat(24), "A".repeat(8));
        let carets = "^".repeat(33);
        assert_eq!(
            shown,
            format!("test: x.txt\nnew:  x{run}.txt\n       {carets}\n")
        );
    }

    #[test]
    fn many_changes_take_several_rows_but_not_all() {
        let pairs: Vec<(&str, &str)> = [("a", "b"), ("xyz", "xyz")].repeat(100);
        let shown = show(&pairs);
        assert_eq!(shown.matches("test: ").count(), 2);
        assert!(shown.ends_with("… and more\n"));
        assert!(shown.lines().all(|line| columns(line) <= WIDTH + 6));
    }
}
