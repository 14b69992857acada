//! Command lines as a shell reads them.

use crate::aligned::Cell;
use crate::escape;
use crate::marked::{self, Glyph};

/// How an argument is quoted. The same way for the test's and for the new one, so that they can
/// be compared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Quotes {
    /// `word`
    None,
    /// `'two words'`
    Single,
    /// `$'it\'s\x01'`
    Dollar,
}

/// Arguments as one line that a shell would take apart again.
pub fn command_line(arguments: &[String]) -> String {
    let cells = |argument: &String| argument.bytes().map(Cell::same).collect();
    let arguments: Vec<Vec<Cell>> = arguments.iter().map(cells).collect();
    let glyphs = glyphs(&arguments);
    glyphs.iter().map(Glyph::new_text).collect()
}

/// The same of two command lines at once.
pub fn glyphs(arguments: &[Vec<Cell>]) -> Vec<Glyph> {
    let mut line = Vec::new();
    for argument in arguments {
        if !line.is_empty() {
            line.push(Glyph::same(" "));
        }
        let (open, close) = match quotes(argument) {
            Quotes::None => ("", ""),
            Quotes::Single => ("'", "'"),
            Quotes::Dollar => ("$'", "'"),
        };
        let escape_byte = |byte| match quotes(argument) {
            Quotes::Dollar if byte == b'\'' => "\\'".to_string(),
            Quotes::Dollar => escape::byte(byte),
            _ => char::from(byte).to_string(),
        };
        line.push(Glyph::same(open));
        line.extend(marked::glyphs(argument, escape_byte));
        line.push(Glyph::same(close));
    }
    line
}

fn quotes(argument: &[Cell]) -> Quotes {
    let mut worst = Quotes::None;
    let mut rest = argument;
    while let Some((first, after)) = rest.split_first() {
        if let Some(character) = marked::character(rest) {
            worst = worst.max(Quotes::Single);
            rest = &rest[character.len_utf8()..];
            continue;
        }
        let needed = [first.old, first.new].into_iter().flatten().map(of_byte);
        worst = needed.fold(worst, Quotes::max);
        rest = after;
    }
    let is_empty = |side: fn(&Cell) -> Option<u8>| argument.iter().all(|one| side(one).is_none());
    match is_empty(|cell| cell.old) || is_empty(|cell| cell.new) {
        true => worst.max(Quotes::Single),
        false => worst,
    }
}

fn of_byte(byte: u8) -> Quotes {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => Quotes::None,
        b'_' | b'@' | b'%' | b'+' | b'=' | b':' | b',' | b'.' | b'/' | b'-' => Quotes::None,
        b'\'' => Quotes::Dollar,
        b' '..=b'~' => Quotes::Single,
        _ => Quotes::Dollar,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_would_take_it_apart_again() {
        let words = [
            "cut", "-c3-5,6-", "", "a b", "it's", "*", "\x1b[2J", "Größe",
        ];
        let words = words.map(String::from);
        assert_eq!(
            command_line(&words),
            r"cut -c3-5,6- '' 'a b' $'it\'s' '*' $'\x1b[2J' 'Größe'"
        );
    }

    #[test]
    fn both_sides_are_quoted_alike() {
        let changed = Cell {
            old: Some(b'x'),
            new: Some(b' '),
        };
        let shown = marked::rows(&glyphs(&[vec![Cell::same(b'a'), changed]]), "", 1);
        assert_eq!(shown, "test: 'ax'\nnew:  'a '\n        ^\n");
    }
}
