//! The functions of the C library that are known, as text.

use std::fmt::Write;

use nearmiss_abi::library::State;
use nearmiss_results::{Library, LibraryFunction};

/// Longest line.
const WIDTH: usize = 92;

/// One paragraph for each header, one list for each state, and how many there are.
pub fn text(library: &Library) -> String {
    let functions: Vec<&LibraryFunction> = library.functions.iter().collect();
    let mut text = String::new();
    for group in functions.chunk_by(|left, right| left.header == right.header) {
        // Writing into a string does not fail.
        let _ = writeln!(text, "{}", group[0].header);
        for list in group.chunk_by(|left, right| left.state == right.state) {
            write_list(&mut text, list);
        }
    }
    let counts: Vec<String> = State::ALL
        .iter()
        .map(|state| format!("{} {}", count(&functions, *state), state.words()))
        .collect();
    let _ = writeln!(text, "{} functions: {}", functions.len(), counts.join(", "));
    text
}

fn count(functions: &[&LibraryFunction], state: State) -> usize {
    functions
        .iter()
        .filter(|function| function.state == state)
        .count()
}

/// `  modelled in C     name name …`, with as many lines as it needs.
fn write_list(text: &mut String, list: &[&LibraryFunction]) {
    let mut line = format!("  {:<17}", list[0].state.words());
    for function in list {
        if line.len() + 1 + function.name.len() > WIDTH {
            text.push_str(&line);
            text.push('\n');
            line = " ".repeat(19);
        }
        line.push(' ');
        line.push_str(function.name);
    }
    text.push_str(&line);
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_header_is_one_paragraph() {
        let mut library = Library::known();
        library
            .functions
            .retain(|function| function.header == "errno.h");
        assert!(
            text(&library).starts_with("errno.h\n  harmless          errno_location\n1 function")
        );
    }

    #[test]
    fn no_line_is_too_long() {
        let text = text(&Library::known());
        assert!(text.lines().all(|line| line.len() <= WIDTH));
        assert!(text.contains("\nstdlib.h\n  modelled in Rust"));
    }
}
