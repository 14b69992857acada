//! Long statements on several lines.

/// Longest line.
const WIDTH: usize = 92;

/// A statement with `indent` before it; what is too long goes on with two steps more, behind a comma or
/// between two parts of a string.
pub fn statement(text: &str, indent: &str) -> String {
    let mut lines = String::new();
    let mut line = indent.to_string();
    for piece in pieces(text) {
        let is_full = line.trim_end().chars().count() + piece.trim_end().chars().count() > WIDTH;
        if is_full && line.trim() != "" {
            lines += line.trim_end();
            lines.push('\n');
            line = format!("{indent}        ");
        }
        line += &piece;
    }
    lines + line.trim_end() + "\n"
}

/// The parts of a statement between which a line may end.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut quote = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let size = pieces.last().map_or(0, String::len);
        let Some(piece) = pieces.last_mut() else {
            break;
        };
        piece.push(character);
        match (character, quote) {
            ('\\', Some(_)) => piece.extend(characters.next()),
            ('"' | '\'', None) => quote = Some(character),
            (end, Some(start)) if end == start => quote = None,
            (' ', None) if piece.ends_with(", ") => pieces.push(String::new()),
            (' ', Some('"')) if size > WIDTH / 2 => {
                piece.push('"');
                piece.push(' ');
                pieces.push("\"".into());
            }
            _ => {}
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_behind_commas_only() {
        assert_eq!(statement("f(1, 2);", "    "), "    f(1, 2);\n");
        let long = format!("int t[] = {{{}}};", ["1000"; 30].join(", "));
        let text = statement(&long, "    ");
        assert!(text.lines().count() == 3, "{text}");
        assert!(text.lines().all(|line| line.len() <= WIDTH));
        assert_eq!(text.split_whitespace().collect::<Vec<_>>().join(" "), long);
    }

    #[test]
    fn commas_in_strings_are_left_alone() {
        let text = statement(&format!("f(\"{}\");", ", ".repeat(20)), "");
        assert_eq!(text.lines().count(), 1);
        let quoted = format!(
            "f('\"', \"{}\", \"\\\"{}\");",
            "x".repeat(40),
            ", ".repeat(20)
        );
        let text = statement(&quoted, "");
        assert_eq!(text.lines().count(), 2, "{text}");
    }
}
