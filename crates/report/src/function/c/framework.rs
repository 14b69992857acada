//! The test frameworks: how a comparison, a test and `main` are written for each, by its templates.

use super::check::Check;
use super::words::{self, Words};

/// A test framework.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Framework {
    /// `assert`, and a `main` that runs each test in a process of its own.
    Plain,
    /// CMocka.
    Cmocka,
    /// Unity, of ThrowTheSwitch.
    Unity,
    /// Check.
    Check,
    /// GoogleTest: the tests are C, what runs them is C++.
    GoogleTest,
}

impl Framework {
    /// All of them.
    pub const ALL: [Framework; 5] = [
        Framework::Plain,
        Framework::Cmocka,
        Framework::Unity,
        Framework::Check,
        Framework::GoogleTest,
    ];

    const fn words(self) -> &'static Words {
        match self {
            Framework::Plain => &words::PLAIN,
            Framework::Cmocka => &words::CMOCKA,
            Framework::Unity => &words::UNITY,
            Framework::Check => &words::CHECK,
            Framework::GoogleTest => &words::GOOGLE_TEST,
        }
    }

    /// The name in options and file names.
    pub fn name(self) -> &'static str {
        self.words().name
    }

    /// What a test file includes behind the source file.
    pub fn headers(self) -> &'static [&'static str] {
        self.words().headers
    }

    /// What a linker needs.
    pub fn libraries(self) -> &'static str {
        self.words().libraries
    }

    /// A comparison as a statement.
    pub fn statement(self, check: &Check) -> String {
        let words = self.words();
        let (template, actual, expected, size) = match check {
            Check::Integer {
                actual,
                expected,
                value,
            } => {
                let numbers = words.numbers.as_ref();
                let template = numbers.and_then(|numbers| numbers.of(*value));
                (template, actual.as_str(), expected.as_str(), "")
            }
            Check::Pointer { actual, expected } => (words.pointer, &**actual, &**expected, ""),
            Check::Null(actual) => (words.null, &**actual, "", ""),
            Check::NotNull(actual) => (words.not_null, &**actual, "", ""),
            Check::Text { actual, expected } => (words.text, &**actual, &**expected, ""),
            Check::Memory {
                actual,
                expected,
                size,
            } => (words.memory, &**actual, &**expected, &**size),
            Check::Truth(_) => (None, "", "", ""),
        };
        match template {
            Some(template) => filled(
                template,
                &[
                    ("$actual", actual),
                    ("$expected", expected),
                    ("$size", size),
                ],
            ),
            None => filled(words.condition, &[("$condition", &check.condition())]),
        }
    }

    /// A test function around its statements.
    pub fn test(self, name: &str, body: &str) -> String {
        filled(self.words().test, &[("$name", name), ("$body", body)])
    }

    /// How a test is listed where all are run.
    pub fn entry(self, function: &str, name: &str) -> String {
        let path = name.rsplit('_').next().unwrap_or(name);
        let values = [("$name", name), ("$function", function), ("$path", path)];
        filled(self.words().entry, &values)
    }

    /// What runs all tests, if that is no file of its own.
    pub fn main(self, function: &str, entries: &str) -> String {
        let values = [("$function", function), ("$entries", entries)];
        filled(self.words().main, &values)
    }
}

/// A template with its words put in. What they hold is not looked at again.
fn filled(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::new();
    let mut rest = template;
    let next = |rest: &str| {
        let found = values
            .iter()
            .filter_map(|(key, value)| Some((rest.find(key)?, *key, *value)));
        found.min()
    };
    while let Some((at, key, value)) = next(rest) {
        text += &rest[..at];
        text += value;
        rest = &rest[at + key.len()..];
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_is_not_looked_at_again() {
        let text = filled(
            "f($actual, $expected);",
            &[("$actual", "\"$expected\""), ("$expected", "b")],
        );
        assert_eq!(text, "f(\"$expected\", b);");
    }

    #[test]
    fn numbers_beyond_64_bits_are_compared_by_a_condition() {
        let check = |value: i128| Check::Integer {
            actual: "x".into(),
            expected: "y".into(),
            value,
        };
        let statement = |value: i128| Framework::Unity.statement(&check(value));
        assert_eq!(statement(-1), "TEST_ASSERT_EQUAL_INT(y, x);");
        assert_eq!(statement(1 << 31), "TEST_ASSERT_EQUAL_INT64(y, x);");
        assert_eq!(statement(1 << 63), "TEST_ASSERT_EQUAL_UINT64(y, x);");
        assert_eq!(statement(1 << 64), "TEST_ASSERT_TRUE(x == y);");
    }
}
