//! The C file that makes the inputs and calls the function.
//!
//! | module | what it writes |
//! | --- | --- |
//! | [`build`] | blocks and objects, filled from the staging; assumptions |
//! | [`calls`] | arguments, declarations of functions in other files |
//! | [`stubs`] | functions for function pointers, and for what nobody defines |
//! | [`results`] | what the run tells afterwards |
//! | [`made`] | the same of memory that the function made |
//!
//! Everything is in terms of the compiler's builtins and of names that start with `nm_harness_`, so
//! that it means the same behind any file. Nothing is optimised: a condition that is written
//! without a branch stays without one.

mod build;
mod calls;
mod made;
mod results;
mod stubs;

use std::fmt::Write;
use std::path::Path;

use crate::bounds::SIZES;
use crate::operands::STAGING;
use crate::plan::{Argument, Plan};
use crate::{ACCEPTED, INPUT, RETURNED, VERDICT};

/// Functions of the harness are compiled as they are written.
const PLAIN: &str = "__attribute__((__noinline__, __optnone__))";

/// Words that the included file may have given another meaning.
const WORDS: &[&str] = &[
    "main", "void", "char", "short", "int", "long", "unsigned", "signed", "float", "double",
    "const", "volatile", "static", "extern", "inline", "struct", "union", "enum", "typedef",
    "return", "if", "else", "while", "for", "switch", "case", "default", "break", "sizeof",
];

/// What every harness starts with, behind the included file.
const PRELUDE: &str = r#"
#undef restrict
#define restrict __restrict
typedef signed char nm_harness_s1 __attribute__((__may_alias__));
typedef short nm_harness_s2 __attribute__((__aligned__(1), __may_alias__));
typedef int nm_harness_s4 __attribute__((__aligned__(1), __may_alias__));
typedef long nm_harness_s8 __attribute__((__aligned__(1), __may_alias__));
typedef __int128 nm_harness_s16 __attribute__((__aligned__(1), __may_alias__));
typedef unsigned char nm_harness_u1 __attribute__((__may_alias__));
typedef unsigned short nm_harness_u2 __attribute__((__aligned__(1), __may_alias__));
typedef unsigned int nm_harness_u4 __attribute__((__aligned__(1), __may_alias__));
typedef unsigned long nm_harness_u8 __attribute__((__aligned__(1), __may_alias__));
typedef unsigned __int128 nm_harness_u16 __attribute__((__aligned__(1), __may_alias__));
typedef void *nm_harness_pointer __attribute__((__aligned__(1), __may_alias__));

extern void nearmiss_symbolic(void *, __SIZE_TYPE__, const char *);
extern void nearmiss_assume(_Bool);
extern void nearmiss_result(const char *, const void *, __SIZE_TYPE__);
extern void __nm_mark(unsigned);
extern unsigned __nm_mode(void);
extern unsigned long __nm_concrete(unsigned long);
extern void *__nm_block(unsigned long, unsigned long, const void *, unsigned long *);
extern unsigned long __nm_extent(const void *) __attribute__((__weak__));
extern void *__asan_region_is_poisoned(void *, __SIZE_TYPE__) __attribute__((__weak__));

static __inline unsigned long nm_harness_count_of(unsigned long nm_harness_value)
{
    return nm_harness_value & ~(unsigned long)((long)nm_harness_value >> 63);
}
"#;

impl Plan {
    /// The C file that makes the inputs and calls the function. `source` is included by it.
    pub fn harness(&self, source: &Path) -> String {
        let mut text = String::from("/* Written by nearmiss explore. */\n");
        text += "#define main nearmiss_program_main\n";
        let escaped = source
            .display()
            .to_string()
            .replace('\\', "\\\\")
            .replace('"', "\\\"");
        let _ = writeln!(text, "#include \"{escaped}\"");
        for word in WORDS {
            let _ = writeln!(text, "#undef {word}");
        }
        let called = [
            Some(&self.function),
            self.precondition.as_ref(),
            self.oracle.as_ref(),
        ];
        for call in called.into_iter().flatten() {
            let _ = writeln!(text, "#undef {}", call.function.name);
        }
        text += PRELUDE;
        self.write_memory(&mut text);
        self.write_stubs(&mut text);
        self.write_foreign(&mut text);
        self.write_assumptions(&mut text);
        self.write_build(&mut text);
        self.write_results(&mut text);
        self.write_main(&mut text);
        text
    }

    fn write_main(&self, text: &mut String) {
        let staging = self.layout.size.max(1);
        let _ = writeln!(text, "\n{PLAIN} int main(void)\n{{");
        *text += "    __nm_mark(0);\n";
        let _ = writeln!(
            text,
            "    nearmiss_symbolic({STAGING}, {staging}ul, \"{INPUT}\");"
        );
        *text += "    nm_harness_assumptions();\n    nm_harness_build(0);\n";
        if self.needs_old() {
            *text += "    nm_harness_build(1);\n";
        }
        if let Some(precondition) = &self.precondition {
            let call = self.call(precondition, "nm_harness_precondition");
            *text += "    if (__nm_mode() != 0) {\n";
            *text += "        int nm_harness_ok;\n        __nm_mark(1);\n";
            let _ = writeln!(text, "        nm_harness_ok = {call} != 0;");
            *text += "        if (__nm_mode() == 1) {\n            if (nm_harness_ok)\n";
            *text += "                nm_harness_accepted(1);\n            else\n";
            *text += "                nm_harness_accepted(0);\n            return 0;\n        }\n";
            *text += "        nearmiss_assume(nm_harness_ok);\n    }\n";
        }
        *text += "    {\n";
        self.write_call(text);
        *text += "    }\n    return 0;\n}\n";
    }

    /// The call itself, the oracle's, and what they left.
    fn write_call(&self, text: &mut String) {
        let signature = &self.function.function.signature;
        let call = self.call(&self.function, &self.function.function.name);
        let gives = self.types.size(signature.result) > 0;
        for stub in 0..self.layout.stubs.len() {
            let _ = writeln!(text, "        nm_harness_calls[{stub}] = 0;");
        }
        if gives {
            let _ = writeln!(text, "        __typeof__({call}) nm_harness_gave;");
        }
        *text += "        __nm_mark(2);\n";
        let keep = if gives { "nm_harness_gave = " } else { "" };
        let _ = writeln!(text, "        {keep}{call};");
        let _ = writeln!(text, "        nearmiss_result(\"{RETURNED}\", \"\", 1);");
        if let Some(oracle) = &self.oracle {
            *text += "        __nm_mark(3);\n";
            let judge = self.call(oracle, "nm_harness_oracle");
            if self.types.size(oracle.function.signature.result) > 0 {
                let _ = writeln!(
                    text,
                    "        if ({judge})\n            nm_harness_verdict(1);"
                );
                *text += "        else\n            nm_harness_verdict(0);\n";
            } else {
                let _ = writeln!(text, "        {judge};\n        nm_harness_verdict(1);");
            }
        }
        *text += "        __nm_mark(4);\n";
        if gives {
            self.write_result(text);
        }
        *text += "        nm_harness_results();\n";
        self.write_starts(text, gives);
    }

    /// Whether the oracle wants to see what was there before the call.
    fn needs_old(&self) -> bool {
        let arguments = self.oracle.iter().flat_map(|oracle| &oracle.arguments);
        arguments
            .into_iter()
            .any(|argument| matches!(argument, Argument::Old(_)))
    }

    /// Whether the precondition asks for sizes.
    pub(super) fn needs_sizes(&self) -> bool {
        let arguments = self.precondition.iter().flat_map(|call| &call.arguments);
        arguments
            .into_iter()
            .any(|argument| matches!(argument, Argument::Extent(_)))
    }

    /// Variables of the harness.
    fn write_memory(&self, text: &mut String) {
        let layout = &self.layout;
        let staging = layout.size.max(1);
        let _ = writeln!(
            text,
            "\nstatic unsigned char {STAGING}[{staging}] __attribute__((__aligned__(16)));"
        );
        let blocks = layout.blocks.len().max(1);
        let _ = writeln!(text, "static void *nm_harness_block[2][{blocks}];");
        let _ = writeln!(text, "static unsigned long nm_harness_bytes[{blocks}];");
        let _ = writeln!(text, "static unsigned long nm_harness_room[{blocks}];");
        if self.needs_sizes() {
            let _ = writeln!(text, "static unsigned long {SIZES}[{blocks}];");
        }
        let stubs = layout.stubs.len().max(1);
        let _ = writeln!(text, "static unsigned nm_harness_calls[{stubs}];");
        for (number, root) in layout.roots.iter().enumerate() {
            let size = (self.types.size(root.of) * root.elements).max(1);
            let _ = writeln!(
                text,
                "static unsigned char nm_harness_object{number}[2][{size}] __attribute__((__aligned__(16)));"
            );
        }
        for (name, row) in [("accepted", ACCEPTED), ("verdict", VERDICT)] {
            let _ = writeln!(
                text,
                "\nstatic {PLAIN} void nm_harness_{name}(unsigned nm_harness_is)\n{{"
            );
            let _ = writeln!(
                text,
                "    nearmiss_result(\"{row}\", &nm_harness_is, 4);\n}}"
            );
        }
    }
}
