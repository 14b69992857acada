//! The words of each test framework: a row of templates, in which `$actual` and its like stand for what is
//! put there.

use super::runner;

/// The words of a framework.
pub struct Words {
    /// In options and file names.
    pub name: &'static str,
    /// What a test file includes behind the source file.
    pub headers: &'static [&'static str],
    /// What a linker needs.
    pub libraries: &'static str,
    /// Two numbers are compared. This and the other comparisons may be missing: then they are written as
    /// a condition like any other.
    pub numbers: Option<Numbers>,
    /// Two pointers are compared.
    pub pointer: Option<&'static str>,
    /// A pointer must be null.
    pub null: Option<&'static str>,
    /// It must not.
    pub not_null: Option<&'static str>,
    /// Two strings are compared.
    pub text: Option<&'static str>,
    /// Bytes are compared.
    pub memory: Option<&'static str>,
    /// A condition must hold.
    pub condition: &'static str,
    /// A test function around its `$body`.
    pub test: &'static str,
    /// How a test is listed where all are run.
    pub entry: &'static str,
    /// What runs all `$entries`.
    pub main: &'static str,
}

/// Comparisons of two numbers.
pub struct Numbers {
    /// Of those that fit into an `int`.
    pub int: &'static str,
    /// Of others of 64 bits.
    pub signed: &'static str,
    /// Of those that need all 64 bits.
    pub unsigned: &'static str,
}

/// `assert` alone.
pub const PLAIN: Words = Words {
    name: "assert",
    headers: &[
        "assert.h",
        "stdio.h",
        "stdlib.h",
        "string.h",
        "sys/wait.h",
        "unistd.h",
    ],
    libraries: "",
    numbers: None,
    pointer: None,
    null: None,
    not_null: None,
    text: None,
    memory: None,
    condition: "assert($condition);",
    test: "static void $name(void)\n{\n$body}\n",
    entry: "    {\"$name\", $name},\n",
    main: runner::PLAIN,
};

/// CMocka.
pub const CMOCKA: Words = Words {
    name: "cmocka",
    headers: &[
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
    libraries: " -lcmocka",
    numbers: Some(Numbers {
        int: "assert_int_equal($actual, $expected);",
        signed: "assert_int_equal($actual, $expected);",
        unsigned: "assert_int_equal($actual, $expected);",
    }),
    pointer: Some("assert_ptr_equal($actual, $expected);"),
    null: Some("assert_null($actual);"),
    not_null: Some("assert_non_null($actual);"),
    text: Some("assert_string_equal($actual, $expected);"),
    memory: Some("assert_memory_equal($actual, $expected, $size);"),
    condition: "assert_true($condition);",
    test: "static void $name(void **state)\n{\n    (void)state;\n$body}\n",
    entry: "    cmocka_unit_test($name),\n",
    main: runner::CMOCKA,
};

/// Unity.
pub const UNITY: Words = Words {
    name: "unity",
    headers: &[
        "stdio.h",
        "stdlib.h",
        "string.h",
        "sys/wait.h",
        "unistd.h",
        "unity.h",
    ],
    libraries: " unity.c",
    numbers: Some(Numbers {
        int: "TEST_ASSERT_EQUAL_INT($expected, $actual);",
        signed: "TEST_ASSERT_EQUAL_INT64($expected, $actual);",
        unsigned: "TEST_ASSERT_EQUAL_UINT64($expected, $actual);",
    }),
    pointer: Some("TEST_ASSERT_EQUAL_PTR($expected, $actual);"),
    null: Some("TEST_ASSERT_NULL($actual);"),
    not_null: Some("TEST_ASSERT_NOT_NULL($actual);"),
    text: Some("TEST_ASSERT_EQUAL_STRING($expected, $actual);"),
    memory: Some("TEST_ASSERT_EQUAL_MEMORY($expected, $actual, $size);"),
    condition: "TEST_ASSERT_TRUE($condition);",
    test: PLAIN.test,
    entry: "    NEARMISS_RUN($name);\n",
    main: runner::UNITY,
};

/// Check.
pub const CHECK: Words = Words {
    name: "check",
    headers: &["stdlib.h", "string.h", "check.h"],
    libraries: " -lcheck -lsubunit -lm -lrt -lpthread",
    numbers: Some(Numbers {
        int: "ck_assert_int_eq($actual, $expected);",
        signed: "ck_assert_int_eq($actual, $expected);",
        unsigned: "ck_assert_uint_eq($actual, $expected);",
    }),
    pointer: Some("ck_assert_ptr_eq($actual, $expected);"),
    null: Some("ck_assert_ptr_null($actual);"),
    not_null: Some("ck_assert_ptr_nonnull($actual);"),
    text: Some("ck_assert_str_eq($actual, $expected);"),
    memory: Some("ck_assert_mem_eq($actual, $expected, $size);"),
    condition: "ck_assert($condition);",
    test: "START_TEST($name)\n{\n$body}\nEND_TEST\n",
    entry: "    tcase_add_test(paths, $name);\n",
    main: runner::CHECK,
};

/// GoogleTest. Its tests are C and speak to it by macros: see [`runner::GOOGLE_MACROS`].
pub const GOOGLE_TEST: Words = Words {
    name: "gtest",
    headers: &["stdlib.h", "string.h"],
    libraries: " -lgtest_main -lgtest -lpthread",
    numbers: Some(Numbers {
        int: "NEARMISS_EQUAL($actual, $expected);",
        signed: "NEARMISS_EQUAL($actual, $expected);",
        unsigned: "NEARMISS_EQUAL($actual, $expected);",
    }),
    text: Some("NEARMISS_SAME_TEXT($actual, $expected);"),
    condition: "NEARMISS_TRUE($condition);",
    test: "void $name(void);\nvoid $name(void)\n{\n$body}\n",
    entry: "TEST($function, path_$path)\n{\n    nearmiss_apart($name);\n}\n\n",
    main: "",
    ..PLAIN
};

impl Numbers {
    /// The comparison with this number; frameworks end at 64 bits.
    pub fn of(&self, value: i128) -> Option<&'static str> {
        if i32::try_from(value).is_ok() {
            Some(self.int)
        } else if i64::try_from(value).is_ok() {
            Some(self.signed)
        } else {
            u64::try_from(value).is_ok().then_some(self.unsigned)
        }
    }
}
