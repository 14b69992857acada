//! Writes stubs: each call gives back an input and writes inputs through its pointers, the last ones again
//! and again.

use std::fmt::Write;

use super::PLAIN;
use crate::model::Stub;
use crate::plan::Plan;
use crate::stubs::STUB_CALLS;
use crate::types::Kind;

/// Writes what a stub is to write; nowhere if there is no memory.
const WRITE: &str = r#"
static PLAIN void nm_harness_write(void *nm_harness_to, const void *nm_harness_from, unsigned long nm_harness_size)
{
    if (__nm_concrete((unsigned long)nm_harness_to) >= 65536)
        __builtin_memcpy(nm_harness_to, nm_harness_from, nm_harness_size);
}
"#;

impl Plan {
    /// What the harness calls a stub.
    pub(super) fn stub_symbol(&self, number: usize) -> String {
        match &self.layout.stubs[number].function {
            Some(function) => function.clone(),
            None => format!("nm_harness_stub{number}"),
        }
    }

    /// All stubs.
    pub(super) fn write_stubs(&self, text: &mut String) {
        let stubs = &self.layout.stubs;
        if stubs.iter().any(|stub| !stub.writes.is_empty()) {
            *text += &WRITE.replace("PLAIN", PLAIN);
        }
        for (number, stub) in stubs.iter().enumerate() {
            let _ = writeln!(text, "\n/* {} */", stub.path);
            if let Some(function) = &stub.function {
                let _ = writeln!(text, "#undef {function}");
            }
            let storage = if stub.function.is_some() {
                ""
            } else {
                "static "
            };
            let head = self.stub_head(stub, &self.stub_symbol(number));
            let _ = writeln!(text, "{storage}{PLAIN} {head}\n{{");
            self.write_stub_body(text, number, stub);
            *text += "}\n";
        }
    }

    fn write_stub_body(&self, text: &mut String, number: usize, stub: &Stub) {
        if stub.root.is_none() && stub.writes.is_empty() {
            return;
        }
        let last = STUB_CALLS - 1;
        let _ = writeln!(
            text,
            "    unsigned nm_harness_call = nm_harness_calls[{number}];"
        );
        let _ = writeln!(text, "    if (nm_harness_call < {last})");
        let _ = writeln!(text, "        nm_harness_calls[{number}]++;");
        for write in &stub.writes {
            let (root, parameter) = (write.root, write.parameter);
            let size = self.types.size(self.layout.roots[root].of) * write.count;
            let _ = writeln!(
                text,
                "    nm_harness_write((void *)nm_harness_p{parameter}, \
                 nm_harness_object{root}[0] + nm_harness_call * {size}ul, {size}ul);"
            );
        }
        if let Some(root) = stub.root {
            let size = self.types.size(self.layout.roots[root].of);
            let of = self.stub_result(stub);
            let _ = writeln!(
                text,
                "    return *({of} *)(nm_harness_object{root}[0] + nm_harness_call * {size}ul);"
            );
        }
    }

    fn stub_result(&self, stub: &Stub) -> String {
        match self.types.kind(stub.signature.result) {
            Kind::Void => "void".into(),
            _ => self.passed(stub.signature.result),
        }
    }

    /// The head of a stub: its parameters need names, which the type does not have.
    fn stub_head(&self, stub: &Stub, name: &str) -> String {
        if !self.types.is_nameable(stub.of) {
            return format!("{} {name}()", self.stub_result(stub));
        }
        let mut signature = stub.signature.clone();
        for (place, parameter) in signature.parameters.iter_mut().enumerate() {
            parameter.name = format!("nm_harness_p{place}");
        }
        let parameters = self.types.parameters(&signature);
        self.types
            .declare(signature.result, &format!("{name}({parameters})"))
    }
}
