//! What the source needs and no given file defines: definitions that give way to real ones.

use std::fmt::Write;

use nearmiss_results::Undefined;

/// Bytes of a variable of which only the name is known, as in the harness.
const STORAGE: usize = 65536;

/// The definitions. Functions are known by their names only, so the assembler defines them; a call ends the
/// program, as it ended the run.
pub fn definitions(undefined: &Undefined) -> String {
    let mut text = String::new();
    let stubs_only = Undefined {
        stubbed: undefined.stubbed.clone(),
        ..Undefined::default()
    };
    if *undefined == stubs_only {
        return text;
    }
    // Writing into a string does not fail.
    text += "/* What no given file defines. A definition elsewhere wins. */\n";
    for name in &undefined.variables {
        let _ = writeln!(text, "__attribute__((weak)) __typeof__({name}) {name};");
    }
    for name in &undefined.of_threads {
        let _ = writeln!(
            text,
            "__attribute__((weak)) _Thread_local __typeof__({name}) {name};"
        );
    }
    if !undefined.functions.is_empty() {
        text += "__attribute__((used)) static void nearmiss_undefined(void)\n\
                 {\n    __builtin_trap();\n}\n";
    }
    for name in &undefined.functions {
        let _ = writeln!(
            text,
            "__asm__(\".weak {name}\\n.set {name}, nearmiss_undefined\");"
        );
    }
    for name in &undefined.storage {
        let _ = writeln!(
            text,
            "__asm__(\".pushsection .bss\\n.weak {name}\\n.balign 16\\n{name}: .zero {STORAGE}\\n.popsection\");"
        );
    }
    text + "\n"
}
