//! Response files: `@file` stands for the words in the file.
//!
//! The rules are those of clang on Linux: white space separates, a backslash takes the next
//! character as it is, quotes of either kind keep white space together, words may be quoted in
//! part, an empty word vanishes, files may name further files, and `@file` without such a file
//! is an ordinary word.

/// A file that names itself must not hang us.
const MAX_DEPTH: usize = 32;

/// The command line with every `@file` replaced; `read` gives the text of a file, if there is
/// one.
pub fn expand(words: &[String], read: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let mut expanded = Vec::with_capacity(words.len());
    expand_into(&mut expanded, words, read, 0);
    expanded
}

fn expand_into(
    expanded: &mut Vec<String>,
    words: &[String],
    read: &dyn Fn(&str) -> Option<String>,
    depth: usize,
) {
    for word in words {
        let name = word.strip_prefix('@').filter(|_| depth < MAX_DEPTH);
        match name.and_then(read) {
            Some(text) => expand_into(expanded, &split(&text), read, depth + 1),
            None => expanded.push(word.clone()),
        }
    }
}

/// The words of a response file.
pub fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (character, quote) {
            ('\\', _) => word.push(characters.next().unwrap_or('\\')),
            (_, Some(open)) if character == open => quote = None,
            (_, Some(_)) => word.push(character),
            ('"' | '\'', None) => quote = Some(character),
            (' ' | '\t' | '\r' | '\n', None) => flush(&mut words, &mut word),
            (_, None) => word.push(character),
        }
    }
    flush(&mut words, &mut word);
    words
}

fn flush(words: &mut Vec<String>, word: &mut String) {
    if !word.is_empty() {
        words.push(std::mem::take(word));
    }
}

/// The text of a response file that stands for `words`.
pub fn join<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for word in words {
        text.push('"');
        for character in word.chars() {
            if matches!(character, '"' | '\\') {
                text.push('\\');
            }
            text.push(character);
        }
        text.push_str("\"\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_by_gnu_rules() {
        let cases: &[(&str, &[&str])] = &[
            ("", &[]),
            ("  \n\t ", &[]),
            ("-c a.c", &["-c", "a.c"]),
            ("-c\n-o\r\nx.o\n", &["-c", "-o", "x.o"]),
            (r#""a b.c" c"#, &["a b.c", "c"]),
            (r#"'a b.c' c"#, &["a b.c", "c"]),
            (r"a\ b.c c", &["a b.c", "c"]),
            (r#"-DX=\"s\""#, &[r#"-DX="s""#]),
            (r#"'-DX="s"'"#, &[r#"-DX="s""#]),
            (r#""-DX=\"s t\"""#, &[r#"-DX="s t""#]),
            (r#"-I"a b"/c"#, &["-Ia b/c"]),
            (r#"'it'\''s'"#, &["it's"]),
            (r#""it's""#, &["it's"]),
            (r"back\\slash", &[r"back\slash"]),
            (r#""" a "#, &["a"]),
            ("\"open", &["open"]),
            ("end\\", &["end\\"]),
        ];
        for (text, words) in cases {
            assert_eq!(split(text), *words, "{text}");
        }
    }

    #[test]
    fn files_nest_and_missing_files_are_words() {
        let read = |name: &str| match name {
            "one" => Some("-c @two".to_string()),
            "two" => Some("'a b.c'".to_string()),
            "loop" => Some("@loop".to_string()),
            _ => None,
        };
        let words = |list: &[&str]| list.iter().map(|word| word.to_string()).collect::<Vec<_>>();
        assert_eq!(
            expand(&words(&["@one", "-g"]), &read),
            ["-c", "a b.c", "-g"]
        );
        assert_eq!(expand(&words(&["@none"]), &read), ["@none"]);
        assert_eq!(expand(&words(&["@loop"]), &read), ["@loop"]);
    }

    #[test]
    fn what_is_joined_is_split_again() {
        let words = ["a b", "it's", r#"-DX="s\t""#, "@x", "tab\there"];
        assert_eq!(split(&join(words)), words);
    }
}
