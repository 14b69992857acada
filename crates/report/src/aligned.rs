//! The test's content of a channel and the new one, byte beside byte.

use nearmiss_results::{Change, Finding};

/// One byte of the test's content and the one of the new content that stands for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The test's byte; `None`: one was put in.
    pub old: Option<u8>,
    /// The new byte; `None`: it was taken out.
    pub new: Option<u8>,
}

impl Cell {
    /// This byte on both sides.
    pub fn same(byte: u8) -> Cell {
        Cell {
            old: Some(byte),
            new: Some(byte),
        }
    }

    /// Whether the two differ.
    pub fn is_changed(&self) -> bool {
        self.old != self.new
    }

    /// Whether both are this byte.
    pub fn is_same(&self, byte: u8) -> bool {
        *self == Cell::same(byte)
    }
}

/// Both contents of a channel, from the new one and what the finding says has changed; `None` if
/// that does not fit together.
///
/// Changes are undone in the opposite order in which the engine makes them: bytes first, then
/// lengths of lines from the last to the first, then the length of the whole.
pub fn align(found: &Finding, channel: &str, new: &[u8]) -> Option<Vec<Cell>> {
    let is_here = |change: &&Change| change.channel == channel;
    let (mut lengths, bytes): (Vec<&Change>, Vec<&Change>) = found
        .changes
        .iter()
        .filter(is_here)
        .partition(|change| change.from.len() != change.to.len());
    let mut pieces = found.lengths.iter().filter(|one| one.channel == channel);
    if pieces.any(|one| !one.line) && !lengths.is_empty() {
        lengths.rotate_right(1);
    }
    let mut cells: Vec<Cell> = new.iter().copied().map(Cell::same).collect();
    for change in lengths.into_iter().chain(bytes) {
        undo(&mut cells, change)?;
    }
    Some(cells)
}

/// Gives the cells their old bytes where this change gave them new ones. Its offset counts the
/// bytes that were there at that time.
fn undo(cells: &mut Vec<Cell>, change: &Change) -> Option<()> {
    let mut at = nth_old(cells, usize::try_from(change.offset).ok()?)?;
    let mut from = change.from.iter().copied();
    for byte in &change.to {
        at += cells[at..].iter().position(|cell| cell.old.is_some())?;
        if cells[at].old != Some(*byte) {
            return None;
        }
        cells[at].old = from.next();
        at += 1;
    }
    let taken_out = from.map(|byte| Cell {
        old: Some(byte),
        new: None,
    });
    cells.splice(at..at, taken_out);
    Some(())
}

/// Where the byte with this offset is, or the end.
fn nth_old(cells: &[Cell], offset: usize) -> Option<usize> {
    let mut old = cells
        .iter()
        .enumerate()
        .filter(|(_, cell)| cell.old.is_some())
        .map(|(index, _)| index);
    if offset == 0 {
        return Some(old.next().unwrap_or(cells.len()));
    }
    // Behind the byte before, so that the end has a place too.
    old.nth(offset - 1).map(|index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nearmiss_results::Resized;

    fn finding(changes: &[(u64, &str, &str)], whole: bool) -> Finding {
        let change = |(offset, from, to): &(u64, &str, &str)| Change {
            channel: "stdin".into(),
            offset: *offset,
            from: from.as_bytes().to_vec(),
            to: to.as_bytes().to_vec(),
        };
        let resized = Resized {
            channel: "stdin".into(),
            offset: 0,
            line: false,
            from: 0,
            to: 0,
        };
        Finding {
            changes: changes.iter().map(change).collect(),
            lengths: whole.then_some(resized).into_iter().collect(),
            ..crate::samples::finding()
        }
    }

    fn old(changes: &[(u64, &str, &str)], whole: bool, new: &str) -> Option<String> {
        let cells = align(&finding(changes, whole), "stdin", new.as_bytes())?;
        assert_eq!(
            cells.iter().filter_map(|cell| cell.new).collect::<Vec<_>>(),
            new.as_bytes()
        );
        let bytes = cells.iter().filter_map(|cell| cell.old).collect();
        Some(String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn the_old_content_comes_back() {
        assert_eq!(old(&[(2, "3", "5")], false, "5 5\n").unwrap(), "5 3\n");
        assert_eq!(old(&[(1, "", "xyz")], false, "axyzb").unwrap(), "ab");
        assert_eq!(old(&[(0, "", "x")], false, "x").unwrap(), "");
        assert_eq!(old(&[(4, "cd", "")], false, "ab\n").as_deref(), None);
        assert_eq!(old(&[(2, "cd", "")], false, "ab").unwrap(), "abcd");
        assert_eq!(old(&[(1, "bcd", "x")], false, "axe").unwrap(), "abcde");
    }

    #[test]
    fn offsets_are_those_of_the_test() {
        let changes = [(1, "", "--"), (2, "b", "B"), (3, "cd", "")];
        assert_eq!(old(&changes, false, "a--xBe").unwrap(), "axbcde");
    }

    #[test]
    fn the_length_of_the_whole_changes_last() {
        // A line got two bytes, then the whole one at its new end.
        let changes = [(1, "", "aa"), (5, "", "!")];
        assert_eq!(old(&changes, true, "aaa\nb!").unwrap(), "a\nb");
    }

    #[test]
    fn a_byte_that_changed_and_went_is_the_old_one() {
        let changes = [(1, "xc", ""), (1, "b", "x")];
        assert_eq!(old(&changes, false, "a").unwrap(), "abc");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert_eq!(old(&[(0, "a", "b")], false, "c"), None);
        assert_eq!(old(&[(9, "a", "b")], false, "c"), None);
        assert_eq!(old(&[(0, "", "cc")], false, "c"), None);
    }
}
