//! Types as C writes them where there is no name (`int (*)[3]`): declarations are made of them.

/// Words that say how a variable may be used, not what it is.
const QUALIFIERS: &[&str] = &["const", "volatile", "restrict", "_Atomic"];

/// A declaration of `name`: `declare("int (*)[3]", "m")` is `int (*m)[3]`.
pub fn declare(ctype: &str, name: &str) -> String {
    let (before, behind) = ctype.split_at(place_of_name(ctype));
    let before = before.trim_end();
    let space = if before.ends_with(['*', '(']) {
        ""
    } else {
        " "
    };
    format!("{before}{space}{name}{behind}")
}

/// Where the name of a declaration stands: in the innermost parentheses that start with a star, before
/// the first bracket or parameter list, else at the end.
fn place_of_name(ctype: &str) -> usize {
    let bytes = ctype.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'(' if is_declarator(&ctype[at + 1..]) => at += 1,
            b'(' if is_typeof(&ctype[..at]) => at += matching(&ctype[at..]),
            b'[' | b'(' | b')' => break,
            _ => at += 1,
        }
    }
    at
}

fn is_declarator(behind: &str) -> bool {
    behind.trim_start().starts_with(['*', '('])
}

fn is_typeof(before: &str) -> bool {
    ["typeof", "__typeof__", "_Atomic", "__attribute__"]
        .iter()
        .any(|word| before.trim_end().ends_with(word))
}

/// Bytes from an opening parenthesis to behind the one that closes it.
fn matching(text: &str) -> usize {
    let mut depth = 0;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}

/// A function's type in two: what it gives back, and its parameters' types.
pub fn of_function(ctype: &str) -> Option<(String, Vec<String>)> {
    let at = place_of_name(ctype);
    let list = &ctype[at..];
    let size = matching(list);
    let inner = list.strip_prefix('(')?.get(..size.checked_sub(2)?)?;
    let result = format!("{}{}", ctype[..at].trim_end(), &list[size..]);
    Some((result, separated(inner)))
}

/// The parts between commas, but for those in parentheses and brackets.
fn separated(list: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0;
    for character in list.chars() {
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        match (character, parts.last_mut()) {
            (',', _) if depth == 0 => parts.push(String::new()),
            (other, Some(part)) => part.push(other),
            _ => {}
        }
    }
    let trimmed = parts.iter().map(|part| part.trim().to_string());
    trimmed.filter(|part| !part.is_empty()).collect()
}

/// The type without `const` and its like at its outside: `const int`, `char *const`.
pub fn unqualified(ctype: &str) -> String {
    let mut text = ctype.trim();
    loop {
        let start = QUALIFIERS.iter().find_map(|word| {
            let rest = text.strip_prefix(word)?;
            rest.starts_with(' ').then(|| rest.trim_start())
        });
        // What stands before a star belongs to what is pointed to.
        let start = start.filter(|rest| !rest.contains(['*', '(']));
        let end = QUALIFIERS.iter().find_map(|word| {
            let rest = text.strip_suffix(word)?;
            rest.ends_with([' ', '*']).then(|| rest.trim_end())
        });
        match start.or(end) {
            Some(shorter) => text = shorter,
            None => return text.to_string(),
        }
    }
}

/// The type of a pointer to a type that is neither an array's nor a function's.
pub fn pointer_to(ctype: &str) -> String {
    match ctype.ends_with('*') {
        true => format!("{ctype}*"),
        false => format!("{ctype} *"),
    }
}

/// What a pointer points to, as far as its text says it is one: `int *const` gives `int`.
pub fn pointed_to(ctype: &str) -> Option<String> {
    let text = unqualified(ctype);
    if text.contains(['(', '[']) {
        return None;
    }
    let target = text.strip_suffix('*')?;
    Some(target.trim_end().to_string())
}

/// Whether it is the type of a character; `signed char` and `unsigned char` are numbers.
pub fn is_character(ctype: &str) -> bool {
    unqualified(ctype) == "char"
}

/// The type of an array's elements: `char [4]` gives `char`. Not exact beyond one dimension.
pub fn of_element(ctype: &str) -> &str {
    let end = ctype.find('[').unwrap_or(ctype.len());
    ctype[..end].trim_end()
}

/// The names in a type that no variable beside it may have; tags of structures have a space of their own.
pub fn words(ctype: &str) -> Vec<&str> {
    let words = ctype.split(|character: char| !character.is_alphanumeric() && character != '_');
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let is_tag = |at: usize| at > 0 && ["struct", "union", "enum"].contains(&words[at - 1]);
    let is_name = |at: &usize| !is_tag(*at);
    (0..words.len())
        .filter(is_name)
        .map(|at| words[at])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_where_c_wants_them() {
        let cases = [
            ("int", "int x"),
            ("const struct list *", "const struct list *x"),
            ("char *const", "char *const x"),
            ("int [4]", "int x[4]"),
            ("int [2][3]", "int x[2][3]"),
            ("char *[3]", "char *x[3]"),
            ("int (*)[3]", "int (*x)[3]"),
            ("int (*)(int, void *)", "int (*x)(int, void *)"),
            ("int (*[2])(void)", "int (*x[2])(void)"),
            ("int (*(*)(int))(char)", "int (*(*x)(int))(char)"),
            ("void (*)(int (*)(void))", "void (*x)(int (*)(void))"),
            ("int (const void *)", "int x(const void *)"),
            ("__typeof__(int *) *", "__typeof__(int *) *x"),
        ];
        for (ctype, expected) in cases {
            assert_eq!(declare(ctype, "x"), expected);
        }
        assert_eq!(declare("int [3]", "m[2]"), "int m[2][3]");
    }

    #[test]
    fn functions_come_apart() {
        let parts = |text| of_function(text).unwrap();
        let strings = |words: &[&str]| words.iter().map(|it| it.to_string()).collect::<Vec<_>>();
        assert_eq!(
            parts("int (const void *, int (*)(int, int))"),
            (
                "int".into(),
                strings(&["const void *", "int (*)(int, int)"])
            )
        );
        assert_eq!(parts("char *(void)"), ("char *".into(), strings(&["void"])));
        assert_eq!(of_function("int"), None);
    }

    #[test]
    fn qualifiers_go() {
        assert_eq!(unqualified("const volatile int"), "int");
        assert_eq!(unqualified("const int *"), "const int *");
        assert_eq!(unqualified("char *const"), "char *");
        assert_eq!(unqualified("constant"), "constant");
        assert_eq!(pointed_to("const int *const").unwrap(), "const int");
        assert_eq!(pointed_to("list_t"), None);
        assert!(is_character("const char"));
        assert!(!is_character("char *"));
        assert_eq!(words("const struct list *"), ["const", "struct"]);
        assert_eq!(words("list_t [4]"), ["list_t", "4"]);
    }
}
