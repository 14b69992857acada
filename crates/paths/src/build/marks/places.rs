//! Where in the text of a C file a mark may stand. clang has the last word.

/// A place in a file's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Where the mark is inserted, in characters of one byte.
    pub offset: usize,
    /// How.
    pub form: Form,
}

/// How a mark stands there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Together with the next statement it is one.
    BeforeStatement,
    /// As a statement of its own: before a declaration, or at the end of a block.
    Alone,
}

/// The places of a line, the likeliest first: behind labels and what else stands before a statement, or at
/// its start.
pub fn of_line(text: &str, line: u32) -> Vec<Slot> {
    let Some((start, content)) = line_of(text, line) else {
        return Vec::new();
    };
    let indent = content.len() - content.trim_start().len();
    let behind = indent + prefix(&content[indent..]);
    let mut slots = Vec::new();
    for column in [behind, indent] {
        for form in [Form::BeforeStatement, Form::Alone] {
            let slot = Slot {
                offset: start + column,
                form,
            };
            if !slots.contains(&slot) {
                slots.push(slot);
            }
        }
    }
    slots
}

/// Whether a place and a line behind it are in one block: no brace between them closes the one that the place is in.
pub fn are_together(text: &str, slot: Slot, line: u32) -> bool {
    let Some((start, _)) = line_of(text, line) else {
        return false;
    };
    let code = without_comments(text);
    let mut depth = 0;
    code.bytes().take(start).skip(slot.offset).all(|byte| {
        depth += i32::from(byte == b'{') - i32::from(byte == b'}');
        depth >= 0
    })
}

/// Whether a line is part of a macro's definition, or a directive.
pub fn is_in_macro(text: &str, line: u32) -> bool {
    let goes_on = |line: u32| line_of(text, line).is_some_and(|(_, it)| it.ends_with('\\'));
    let is_directive = line_of(text, line).is_some_and(|(_, it)| it.trim_start().starts_with('#'));
    is_directive || line > 1 && goes_on(line - 1)
}

/// Behind the brace with which a function's body begins.
pub fn of_function(text: &str, name: &str) -> Option<Slot> {
    let code = without_comments(text);
    let bytes = code.as_bytes();
    words(&code, name).find_map(|start| {
        let open = skip_spaces(bytes, start + name.len());
        if bytes.get(open) != Some(&b'(') {
            return None;
        }
        let behind = skip_spaces(bytes, closing(bytes, open)? + 1);
        let brace = behind + code[behind..].find('{')?;
        // Between them: nothing, attributes, or declarations of parameters as in old C.
        let between = code[behind..brace].trim();
        let is_old = between.ends_with(';') && !between.contains(['(', '=', '}']);
        let is_attribute = between.starts_with("__attribute__") && between.ends_with(')');
        let is_body = between.is_empty() || is_old || is_attribute;
        is_body.then_some(Slot {
            offset: brace + 1,
            form: Form::Alone,
        })
    })
}

/// The lines of a function's body, from its first brace to its last.
pub fn body_lines(text: &str, name: &str) -> Option<(u32, u32)> {
    let brace = of_function(text, name)?.offset - 1;
    let code = without_comments(text);
    let end = closing(code.as_bytes(), brace)?;
    let line = |offset: usize| 1 + text[..offset].matches('\n').count() as u32;
    Some((line(brace), line(end)))
}

/// Behind a label.
pub fn of_label(text: &str, label: &str) -> Option<Slot> {
    let code = without_comments(text);
    let bytes = code.as_bytes();
    words(&code, label).find_map(|start| {
        let colon = skip_spaces(bytes, start + label.len());
        let before = code[..start].trim_end().chars().last();
        let begins = before.is_none_or(|letter| ";{}:)".contains(letter));
        let is_label = begins && bytes.get(colon) == Some(&b':');
        is_label.then_some(Slot {
            offset: colon + 1,
            form: Form::BeforeStatement,
        })
    })
}

/// The text with marks in it, and what declares them. Lines and columns of everything else stay.
pub fn insert(declaration: &str, text: &str, mut inserted: Vec<(Slot, String)>) -> String {
    inserted.sort_by_key(|(slot, _)| slot.offset);
    let mut result = format!("{declaration}\n#line 1\n");
    let mut position = 0;
    for (slot, mark) in inserted {
        let before = &text[position..slot.offset];
        result += before;
        let line = 1 + text[..slot.offset].matches('\n').count();
        let column = text[..slot.offset]
            .rfind('\n')
            .map_or(slot.offset, |end| slot.offset - end - 1);
        result += &format!(
            "\n#line {line}\n{mark}\n#line {line}\n{}",
            " ".repeat(column)
        );
        position = slot.offset;
    }
    result + &text[position..]
}

/// The offset and content of a line, from 1.
fn line_of(text: &str, line: u32) -> Option<(usize, &str)> {
    let mut start = 0;
    for (number, content) in (1..).zip(text.split('\n')) {
        if number == line {
            return Some((start, content.trim_end_matches('\r')));
        }
        start += content.len() + 1;
    }
    None
}

/// How long what stands before a statement is: braces, `else`, `do`, labels.
fn prefix(content: &str) -> usize {
    let mut rest = content;
    loop {
        let trimmed = rest.trim_start();
        let next = skip_one(trimmed);
        if next == 0 {
            // Nothing but that: the mark comes last.
            return match trimmed.is_empty() {
                true => content.trim_end().len(),
                false => content.len() - trimmed.len(),
            };
        }
        rest = &trimmed[next..];
    }
}

fn skip_one(text: &str) -> usize {
    if text.starts_with(['{', '}']) {
        return 1;
    }
    let word: String = text.chars().take_while(|it| is_word(*it)).collect();
    let behind = &text[word.len()..];
    match word.as_str() {
        "" => 0,
        "else" | "do" => word.len(),
        "case" => text.find(':').map_or(0, |colon| colon + 1),
        _ if behind.trim_start().starts_with(':') => {
            word.len() + behind.find(':').map_or(0, |colon| colon + 1)
        }
        _ => 0,
    }
}

fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// Where a name stands as a word.
fn words<'t>(code: &'t str, name: &'t str) -> impl Iterator<Item = usize> + 't {
    code.match_indices(name)
        .map(|(start, _)| start)
        .filter(move |&start| {
            let before = code[..start].chars().last();
            let behind = code[start + name.len()..].chars().next();
            !before.is_some_and(is_word) && !behind.is_some_and(is_word)
        })
}

fn skip_spaces(bytes: &[u8], from: usize) -> usize {
    let spaces = bytes[from..]
        .iter()
        .take_while(|it| it.is_ascii_whitespace());
    from + spaces.count()
}

/// The bracket that closes the one at `open`.
fn closing(bytes: &[u8], open: usize) -> Option<usize> {
    let mut depth = 0;
    let (opens, closes) = match bytes[open] {
        b'(' => (b'(', b')'),
        _ => (b'{', b'}'),
    };
    for (position, &byte) in bytes.iter().enumerate().skip(open) {
        if byte == opens {
            depth += 1;
        } else if byte == closes {
            depth -= 1;
        }
        if depth == 0 {
            return Some(position);
        }
    }
    None
}

/// The same text with blanks for comments, strings and directives.
fn without_comments(text: &str) -> String {
    let mut code: Vec<char> = text.chars().collect();
    let mut position = 0;
    while position < code.len() {
        let end = match (code[position], code.get(position + 1)) {
            ('/', Some('*')) => find(&code, position + 2, &['*', '/']) + 2,
            ('/', Some('/')) => find(&code, position, &['\n']),
            (quote @ ('"' | '\''), _) => end_of_text(&code, position + 1, quote),
            ('#', _) if begins_line(&code, position) => find(&code, position, &['\n']),
            _ => {
                position += 1;
                continue;
            }
        };
        let end = end.min(code.len());
        for letter in &mut code[position..end] {
            // As many bytes as before.
            *letter = match *letter {
                '\n' => '\n',
                letter if letter.is_ascii() => ' ',
                _ => '\u{a0}',
            };
        }
        position = end.max(position + 1);
    }
    code.into_iter().collect()
}

fn begins_line(code: &[char], position: usize) -> bool {
    let before = code[..position].iter().rev().take_while(|it| **it != '\n');
    before.copied().all(char::is_whitespace)
}

fn find(code: &[char], from: usize, what: &[char]) -> usize {
    let found = (from..code.len()).find(|&at| code[at..].starts_with(what));
    found.unwrap_or(code.len())
}

fn end_of_text(code: &[char], from: usize, quote: char) -> usize {
    let mut position = from;
    while let Some(&letter) = code.get(position) {
        match letter {
            '\\' => position += 2,
            '\n' => return position,
            _ if letter == quote => return position + 1,
            _ => position += 1,
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
/* f(x) { no */ int f(int x);
int f(int x)
{
    switch (x) {
    case 'a': x++;
        break;
    } if (x) return 1; else
    return f(2) ? 3 : x;
done:
    return 4;
}
int old(a, b)
    int a, b;
{ return a; }
";

    fn marked(slot: Slot) -> String {
        insert("int marks(int);", TEXT, vec![(slot, "MARK".into())])
    }

    #[test]
    fn marks_stand_behind_labels_and_keep_lines_and_columns() {
        let text = marked(of_line(TEXT, 5)[0]);
        let expected = "    case 'a': \n#line 5\nMARK\n#line 5\n              x++;";
        assert!(text.contains(expected), "{text}");
        assert!(text.starts_with("int marks(int);\n#line 1\n/* f(x)"));
    }

    #[test]
    fn a_brace_comes_before_a_statement() {
        let text = marked(of_line(TEXT, 7)[0]);
        assert!(
            text.contains("    } \n#line 7\nMARK\n#line 7\n      if (x) return 1; else"),
            "{text}"
        );
        let forms: Vec<Form> = of_line(TEXT, 10).iter().map(|slot| slot.form).collect();
        assert_eq!(forms, [Form::BeforeStatement, Form::Alone]);
    }

    #[test]
    fn functions_begin_with_their_brace_also_in_old_c() {
        assert!(marked(of_function(TEXT, "f").unwrap()).contains("{\n#line 3\nMARK\n"));
        assert!(marked(of_function(TEXT, "old").unwrap()).contains("{\n#line 14\nMARK\n"));
        assert_eq!(of_function(TEXT, "g"), None);
        assert_eq!(body_lines(TEXT, "f"), Some((3, 11)));
    }

    #[test]
    fn a_colon_behind_a_question_makes_no_label() {
        assert!(marked(of_label(TEXT, "done").unwrap()).contains("done:\n#line 9\nMARK\n"));
        assert_eq!(of_label("x ? y : z;", "y"), None);
        assert_eq!(of_label(TEXT, "nowhere"), None);
    }

    #[test]
    fn a_line_behind_the_end_of_a_block_is_not_of_its_statements() {
        let at = |line: u32| of_line(TEXT, line)[0];
        assert!(are_together(TEXT, at(4), 6), "of the switch");
        assert!(!are_together(TEXT, at(10), 12), "of the next function");
        assert!(!are_together(TEXT, at(6), 8));
    }

    #[test]
    fn macros_and_directives_are_no_place() {
        let text = "#define A \\\n  b\nc;\n";
        assert!(is_in_macro(text, 1) && is_in_macro(text, 2) && !is_in_macro(text, 3));
    }
}
