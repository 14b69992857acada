//! The file of `--sizes`: rules about inputs, one a line, in the words of the flags.
//!
//! ```text
//!  range n1=0..3                    # for every function that has an n1
//!  [merge]                          # from here on for this function only
//!  size t1=n1
//!  require n1 <= n2
//!  global table_of_prices
//! ```

use std::fs;
use std::path::Path;

use nearmiss_harness::{Request, Rule, RuleKind};

/// Adds the rules of a file that are about the request's function.
pub fn add(file: &Path, request: &mut Request) -> Result<(), String> {
    let name = file.display();
    let text = fs::read_to_string(file).map_err(|error| format!("{name}: {error}"))?;
    let mut section: Option<&str> = None;
    for (index, line) in text.lines().enumerate() {
        let line = without_comment(line);
        let named = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        if let Some(named) = named {
            section = Some(named.trim());
        } else if !line.is_empty() && section.is_none_or(|name| name == request.function) {
            add_line(line, section.is_none(), request)
                .map_err(|trouble| format!("{name}:{}: {trouble}", index + 1))?;
        }
    }
    Ok(())
}

/// A comment starts a line or stands behind a space: `s[0] == '#'` is none.
fn without_comment(line: &str) -> &str {
    let is_comment = |at: &usize| *at == 0 || line[..*at].ends_with(char::is_whitespace);
    let mut marks = line.match_indices('#').map(|(at, _)| at);
    let end = marks.find(is_comment).unwrap_or(line.len());
    line[..end].trim()
}

fn add_line(line: &str, is_general: bool, request: &mut Request) -> Result<(), String> {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    if rest.is_empty() {
        return Err(format!("expected a rule, such as size t=n; found: {line}"));
    }
    match word {
        "require" => request.requirements.push(rest.to_string()),
        "global" => request.globals.push(rest.to_string()),
        _ => {
            let known = RuleKind::ALL.into_iter().find(|kind| kind.word() == word);
            let kind = known.ok_or_else(|| {
                let words = RuleKind::ALL.map(RuleKind::word).join(", ");
                format!("expected one of {words}, require, global; found: {word}")
            })?;
            let rule = Rule::parse(kind, rest).map_err(|error| error.to_string())?;
            request.rules.push(Rule { is_general, ..rule });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(text: &str) -> Result<Request, String> {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("sizes");
        fs::write(&file, text).unwrap();
        let mut request = Request {
            function: "merge".into(),
            ..Request::default()
        };
        let added = add(&file, &mut request);
        added.map(|()| request).map_err(|trouble| {
            let name = trouble.rfind("sizes:").unwrap();
            trouble[name..].to_string()
        })
    }

    #[test]
    fn rules_for_all_and_for_one_function() {
        let made = request(
            "# a comment\n\
             range n=0..3 # behind a rule\n\n\
             [other]\nsize t=9\n\
             [ merge ] # this one\n  size t = n  \nrequire n > 0 && t[0] == '#'\nglobal limit\n",
        );
        let made = made.unwrap();
        let kinds: Vec<RuleKind> = made.rules.iter().map(|rule| rule.kind).collect();
        assert_eq!(kinds, [RuleKind::Range, RuleKind::Size]);
        assert_eq!(made.rules[1].value, "n");
        let general: Vec<bool> = made.rules.iter().map(|rule| rule.is_general).collect();
        assert_eq!(general, [true, false]);
        assert_eq!(made.requirements, ["n > 0 && t[0] == '#'"]);
        assert_eq!(made.globals, ["limit"]);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        for (text, expected) in [
            ("\nsizes t=3\n", "sizes:2: expected one of size, string,"),
            (
                "range n=5\nsize\n",
                "sizes:2: expected a rule, such as size t=n",
            ),
            ("range n=a..b\n", "sizes:1: --range n=a..b: "),
        ] {
            let trouble = request(text).unwrap_err();
            assert!(trouble.starts_with(expected), "{trouble}");
        }
    }
}
