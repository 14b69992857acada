//! Assembly outside of functions: functions that are written in it are not followed, so a unit with one is
//! named as such. Much of such assembly has none: versions of symbols, aliases, data.

/// Whether the text has an instruction in it.
pub fn has_code(text: &str) -> bool {
    let without_comments = text
        .lines()
        .map(|line| line.split('#').next().unwrap_or(""));
    let mut statements = without_comments.flat_map(|line| line.split(';'));
    statements.any(|statement| {
        let statement = behind_labels(statement.trim());
        let is_assignment = statement.contains('=') && !statement.contains('(');
        !statement.is_empty() && !statement.starts_with('.') && !is_assignment
    })
}

/// What comes behind the labels of a statement.
fn behind_labels(mut statement: &str) -> &str {
    let is_name = |text: &str| {
        let mut letters = text.chars();
        !text.is_empty() && letters.all(|one| one.is_alphanumeric() || "_.$@".contains(one))
    };
    while let Some((label, rest)) = statement.split_once(':') {
        if !is_name(label.trim()) {
            break;
        }
        statement = rest.trim();
    }
    statement
}

#[cfg(test)]
mod tests {
    use super::has_code;

    #[test]
    fn instructions_are_told_from_directives() {
        let cases = [
            ("", false),
            (".symver old, new@VERS_1\n", false),
            (".globl f\n.set f, main", false),
            (".data\ntable: .quad 1; .quad 2 # mov", false),
            ("a = b\n", false),
            (".text\nf:\n  movl g(%rip), %eax\n  ret", true),
            ("f: ret", true),
            ("nop", true),
            (".text; f: xorl %eax, %eax; ret", true),
        ];
        for (text, expected) in cases {
            assert_eq!(has_code(text), expected, "{text}");
        }
    }
}
