//! What differs between test frameworks: how a comparison, a test and `main` are written.

/// A comparison of what is there with what was observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// Two numbers.
    Integer {
        /// An expression.
        actual: String,
        /// A literal.
        expected: String,
        /// The same as a number.
        value: i128,
    },
    /// Two pointers.
    Pointer {
        /// An expression.
        actual: String,
        /// Another.
        expected: String,
    },
    /// No pointer.
    Null(String),
    /// A pointer to something that has no name.
    NotNull(String),
    /// Two strings.
    Text {
        /// An expression.
        actual: String,
        /// A literal.
        expected: String,
    },
    /// The bytes behind two pointers.
    Memory {
        /// An expression.
        actual: String,
        /// Another.
        expected: String,
        /// How many.
        size: String,
    },
    /// A condition.
    Truth(String),
}

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

    /// The name in options and file names.
    pub fn name(self) -> &'static str {
        match self {
            Framework::Plain => "assert",
            Framework::Cmocka => "cmocka",
            Framework::Unity => "unity",
            Framework::Check => "check",
            Framework::GoogleTest => "gtest",
        }
    }

    /// What a test file includes behind the source file.
    pub fn headers(self) -> &'static [&'static str] {
        match self {
            Framework::Plain => &[
                "assert.h",
                "stdio.h",
                "stdlib.h",
                "string.h",
                "sys/wait.h",
                "unistd.h",
            ],
            Framework::Cmocka => &[
                "setjmp.h",
                "stdarg.h",
                "stddef.h",
                "stdint.h",
                "stdio.h",
                "stdlib.h",
                "string.h",
                "sys/wait.h",
                "unistd.h",
                "cmocka.h",
            ],
            Framework::Unity => &[
                "stdio.h",
                "stdlib.h",
                "string.h",
                "sys/wait.h",
                "unistd.h",
                "unity.h",
            ],
            Framework::Check => &["stdlib.h", "string.h", "check.h"],
            Framework::GoogleTest => &["stdlib.h", "string.h"],
        }
    }

    /// What a linker needs.
    pub fn libraries(self) -> &'static str {
        match self {
            Framework::Plain => "",
            Framework::Cmocka => " -lcmocka",
            Framework::Unity => " unity.c",
            Framework::Check => " -lcheck -lsubunit -lm -lrt -lpthread",
            Framework::GoogleTest => " -lgtest_main -lgtest -lpthread",
        }
    }

    /// A comparison as a statement.
    pub fn statement(self, check: &Check) -> String {
        match self {
            Framework::Plain => plain(check),
            Framework::Cmocka => cmocka(check),
            Framework::Unity => unity(check),
            Framework::Check => of_check(check),
            Framework::GoogleTest => google(check),
        }
    }

    /// A test function around its statements.
    pub fn test(self, name: &str, body: &str) -> String {
        match self {
            Framework::Plain | Framework::Unity => {
                format!("static void {name}(void)\n{{\n{body}}}\n")
            }
            Framework::Cmocka => {
                format!("static void {name}(void **state)\n{{\n    (void)state;\n{body}}}\n")
            }
            Framework::Check => format!("START_TEST({name})\n{{\n{body}}}\nEND_TEST\n"),
            Framework::GoogleTest => {
                format!("void {name}(void);\nvoid {name}(void)\n{{\n{body}}}\n")
            }
        }
    }

    /// How a test is listed where all are run.
    pub fn entry(self, function: &str, name: &str) -> String {
        match self {
            Framework::Plain => format!("    {{\"{name}\", {name}}},\n"),
            Framework::Cmocka => format!("    cmocka_unit_test({name}),\n"),
            Framework::Unity => format!("    NEARMISS_RUN({name});\n"),
            Framework::Check => format!("    tcase_add_test(paths, {name});\n"),
            Framework::GoogleTest => {
                let path = name.rsplit('_').next().unwrap_or(name);
                format!("TEST({function}, path_{path})\n{{\n    nearmiss_apart({name});\n}}\n\n")
            }
        }
    }
}

fn plain(check: &Check) -> String {
    let condition = condition(check);
    format!("assert({condition});")
}

/// A comparison as an expression of C.
fn condition(check: &Check) -> String {
    match check {
        Check::Integer {
            actual, expected, ..
        }
        | Check::Pointer { actual, expected } => format!("{actual} == {expected}"),
        Check::Null(actual) => format!("{actual} == NULL"),
        Check::NotNull(actual) => format!("{actual} != NULL"),
        Check::Text { actual, expected } => format!("strcmp({actual}, {expected}) == 0"),
        Check::Memory {
            actual,
            expected,
            size,
        } => format!("memcmp({actual}, {expected}, {size}) == 0"),
        Check::Truth(condition) => condition.clone(),
    }
}

/// Which of a framework's numbers one is: they end at 64 bits.
enum Width {
    Signed,
    Unsigned,
    Wider,
}

fn width(value: i128) -> Width {
    match (i64::try_from(value), u64::try_from(value)) {
        (Ok(_), _) => Width::Signed,
        (_, Ok(_)) => Width::Unsigned,
        _ => Width::Wider,
    }
}

fn cmocka(check: &Check) -> String {
    match check {
        Check::Integer {
            actual,
            expected,
            value,
        } if !matches!(width(*value), Width::Wider) => {
            format!("assert_int_equal({actual}, {expected});")
        }
        Check::Pointer { actual, expected } => format!("assert_ptr_equal({actual}, {expected});"),
        Check::Null(actual) => format!("assert_null({actual});"),
        Check::NotNull(actual) => format!("assert_non_null({actual});"),
        Check::Text { actual, expected } => format!("assert_string_equal({actual}, {expected});"),
        Check::Memory {
            actual,
            expected,
            size,
        } => format!("assert_memory_equal({actual}, {expected}, {size});"),
        _ => format!("assert_true({});", condition(check)),
    }
}

fn unity(check: &Check) -> String {
    match check {
        Check::Integer {
            actual,
            expected,
            value,
        } if !matches!(width(*value), Width::Wider) => {
            let kind = match (i32::try_from(*value), width(*value)) {
                (Ok(_), _) => "INT",
                (_, Width::Unsigned) => "UINT64",
                _ => "INT64",
            };
            format!("TEST_ASSERT_EQUAL_{kind}({expected}, {actual});")
        }
        Check::Pointer { actual, expected } => {
            format!("TEST_ASSERT_EQUAL_PTR({expected}, {actual});")
        }
        Check::Null(actual) => format!("TEST_ASSERT_NULL({actual});"),
        Check::NotNull(actual) => format!("TEST_ASSERT_NOT_NULL({actual});"),
        Check::Text { actual, expected } => {
            format!("TEST_ASSERT_EQUAL_STRING({expected}, {actual});")
        }
        Check::Memory {
            actual,
            expected,
            size,
        } => format!("TEST_ASSERT_EQUAL_MEMORY({expected}, {actual}, {size});"),
        _ => format!("TEST_ASSERT_TRUE({});", condition(check)),
    }
}

fn of_check(check: &Check) -> String {
    match check {
        Check::Integer {
            actual,
            expected,
            value,
        } if !matches!(width(*value), Width::Wider) => {
            let kind = match width(*value) {
                Width::Unsigned => "uint",
                _ => "int",
            };
            format!("ck_assert_{kind}_eq({actual}, {expected});")
        }
        Check::Pointer { actual, expected } => format!("ck_assert_ptr_eq({actual}, {expected});"),
        Check::Null(actual) => format!("ck_assert_ptr_null({actual});"),
        Check::NotNull(actual) => format!("ck_assert_ptr_nonnull({actual});"),
        Check::Text { actual, expected } => format!("ck_assert_str_eq({actual}, {expected});"),
        Check::Memory {
            actual,
            expected,
            size,
        } => format!("ck_assert_mem_eq({actual}, {expected}, {size});"),
        _ => format!("ck_assert({});", condition(check)),
    }
}

fn google(check: &Check) -> String {
    match check {
        Check::Integer {
            actual,
            expected,
            value,
        } if !matches!(width(*value), Width::Wider) => {
            format!("NEARMISS_EQUAL({actual}, {expected});")
        }
        Check::Text { actual, expected } => format!("NEARMISS_SAME_TEXT({actual}, {expected});"),
        _ => format!("NEARMISS_TRUE({});", condition(check)),
    }
}
