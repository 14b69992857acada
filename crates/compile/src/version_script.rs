//! Version scripts of shared libraries.
//!
//! A script hides whatever it does not name. Hidden hooks would give the library a runtime of
//! its own, and a second recording of the same process; so the linker gets a copy of the script
//! that names them.

use std::io;
use std::path::Path;

/// The words of a link that is made in a directory, with copies of its scripts, in another one, that name our hooks.
pub fn admit_hooks_in_link(
    words: Vec<String>,
    directory: &Path,
    copies: &Path,
) -> io::Result<Vec<String>> {
    let mut result = Ok(());
    let mut count = 0;
    let mut replace = |name: &str| {
        let Ok(script) = std::fs::read_to_string(directory.join(name)) else {
            // The linker says what is wrong with it.
            return name.to_string();
        };
        count += 1;
        let path = copies.join(format!("{count}.map"));
        if let Err(error) = std::fs::write(&path, admit_hooks(&script)) {
            result = Err(error);
        }
        path.to_string_lossy().into_owned()
    };
    let words = replace_names(words, &mut replace);
    result.map(|()| words)
}

/// The script with our hooks in its first block. A block has at most one list of names behind
/// `global:`, before one behind `local:`, or a single list without either.
fn admit_hooks(script: &str) -> String {
    let Some(body) = after_first_brace(script) else {
        return script.to_string();
    };
    let first = skip_blanks(body);
    let (rest, words) = match (after_label(first, "global"), after_label(first, "local")) {
        (Some(names), _) => (names, " __nm_*;"),
        (_, Some(_)) => (first, "global: __nm_*; "),
        _ if first.starts_with('}') => (first, "global: __nm_*; "),
        _ => (first, "__nm_*; "),
    };
    let head = &script[..script.len() - rest.len()];
    format!("{head}{words}{rest}")
}

/// What follows the first `{` that is not in a comment.
fn after_first_brace(script: &str) -> Option<&str> {
    let mut rest = skip_blanks(script);
    loop {
        let mut characters = rest.chars();
        match characters.next()? {
            '{' => return Some(characters.as_str()),
            _ => rest = skip_blanks(characters.as_str()),
        }
    }
}

/// What follows white space and comments.
fn skip_blanks(text: &str) -> &str {
    let mut rest = text.trim_start();
    loop {
        let close = match rest {
            _ if rest.starts_with("/*") => "*/",
            _ if rest.starts_with('#') => "\n",
            _ => return rest,
        };
        rest = rest
            .split_once(close)
            .map_or("", |(_, rest)| rest.trim_start());
    }
}

fn after_label<'a>(text: &'a str, label: &str) -> Option<&'a str> {
    skip_blanks(text.strip_prefix(label)?).strip_prefix(':')
}

/// The words of a link with every script's name replaced.
fn replace_names(words: Vec<String>, replace: &mut dyn FnMut(&str) -> String) -> Vec<String> {
    let mut is_name = false;
    let mut replace_piece = |piece: &str| {
        let named = ["--version-script=", "-version-script="]
            .into_iter()
            .find_map(|prefix| Some((prefix, piece.strip_prefix(prefix)?)));
        match (std::mem::take(&mut is_name), named) {
            (true, _) => replace(piece),
            (false, Some((prefix, name))) => format!("{prefix}{}", replace(name)),
            (false, None) => {
                is_name = matches!(piece, "--version-script" | "-version-script");
                piece.to_string()
            }
        }
    };
    let mut for_linker = false;
    let mut replace_word = |word: String| {
        let is_piece = std::mem::replace(&mut for_linker, word == "-Xlinker");
        match word.strip_prefix("-Wl,") {
            _ if is_piece => replace_piece(&word),
            Some(list) => {
                let pieces: Vec<String> = list.split(',').map(&mut replace_piece).collect();
                format!("-Wl,{}", pieces.join(","))
            }
            None => word,
        }
    };
    words.into_iter().map(&mut replace_word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_are_named_in_the_first_block() {
        let cases = [
            ("{ local: *; };", "{ global: __nm_*; local: *; };"),
            (
                "V1 {\n a; b; };\nV2 { c; };",
                "V1 {\n __nm_*; a; b; };\nV2 { c; };",
            ),
            (
                "V { global: f; local : *; };",
                "V { global: __nm_*; f; local : *; };",
            ),
            (
                "V { /* all */ global : f; };",
                "V { /* all */ global : __nm_*; f; };",
            ),
            ("V { globals; };", "V { __nm_*; globals; };"),
            ("/* { */\n# {\nV {};", "/* { */\n# {\nV {global: __nm_*; };"),
            ("", ""),
            ("/* { ", "/* { "),
        ];
        for (given, expected) in cases {
            assert_eq!(admit_hooks(given), expected);
        }
    }

    #[test]
    fn names_are_found_however_they_are_given() {
        let cases = [
            (
                "-Wl,--version-script=a -Wl,-z,defs",
                "-Wl,--version-script=NEW:a -Wl,-z,defs",
            ),
            (
                "-Wl,-z,defs,--version-script,a,-s",
                "-Wl,-z,defs,--version-script,NEW:a,-s",
            ),
            (
                "-Wl,-version-script -Wl,a b.o",
                "-Wl,-version-script -Wl,NEW:a b.o",
            ),
            (
                "-Xlinker --version-script -Xlinker a",
                "-Xlinker --version-script -Xlinker NEW:a",
            ),
            ("a.o -Wl,-soname,a", "a.o -Wl,-soname,a"),
        ];
        for (given, expected) in cases {
            let words = given.split(' ').map(str::to_string).collect();
            let replaced = replace_names(words, &mut |name| format!("NEW:{name}"));
            assert_eq!(replaced.join(" "), expected);
        }
    }
}
