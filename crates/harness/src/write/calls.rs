//! Writes calls and their arguments, stubs, and declarations of what lies in other files.

use std::fmt::Write;

use super::PLAIN;
use crate::model::{Place, Stub};
use crate::plan::{Argument, Call, Plan};
use crate::types::{Kind, TypeId};

impl Plan {
    /// The expression that calls a function; under `foreign` if it is in another file.
    pub(super) fn call(&self, call: &Call, foreign: &str) -> String {
        let name = if call.function.object == 0 {
            &call.function.name
        } else {
            foreign
        };
        let arguments = call
            .arguments
            .iter()
            .map(|argument| self.argument(*argument));
        format!("{name}({})", arguments.collect::<Vec<_>>().join(", "))
    }

    fn argument(&self, argument: Argument) -> String {
        let (root, copy) = match argument {
            Argument::Result => return "nm_harness_gave".into(),
            Argument::Live(root) => (root, "0"),
            Argument::Old(root) => (root, "1"),
        };
        let object = self.object(root, copy);
        let of = self.layout.roots[root].of;
        if let Kind::Array(..) = self.types.kind(of) {
            return format!("(void *){object}");
        }
        format!("*({} *)({object})", self.passed(of))
    }

    /// The type as which a value is passed.
    fn passed(&self, of: TypeId) -> String {
        let types = &self.types;
        match types.kind(of) {
            Kind::Integer(kind) | Kind::Enumeration(kind, _) if !kind.truth => {
                let sign = if kind.signed { 's' } else { 'u' };
                format!("nm_harness_{sign}{}", types.size(of))
            }
            Kind::Integer(_) => "_Bool".into(),
            Kind::Pointer(_) | Kind::Function(_) | Kind::Array(..) => "nm_harness_pointer".into(),
            Kind::Record(_) => types.spell(types.unqualified(of)),
            _ => types.spell(types.bare(of)),
        }
    }

    /// Declares functions and globals of other files by their symbols: the types of their own files
    /// may have no names here.
    pub(super) fn write_foreign(&self, text: &mut String) {
        let named = [
            (self.precondition.as_ref(), "nm_harness_precondition"),
            (self.oracle.as_ref(), "nm_harness_oracle"),
        ];
        for (call, alias) in named {
            let Some(call) = call.filter(|call| call.function.object != 0) else {
                continue;
            };
            let signature = &call.function.signature;
            let result = match self.types.kind(signature.result) {
                Kind::Void => "void".into(),
                _ => self.passed(signature.result),
            };
            let given = signature.parameters.iter().zip(&call.arguments);
            let parameters: Vec<String> = given
                .map(
                    |(parameter, argument)| match (self.types.kind(parameter.of), argument) {
                        (Kind::Record(_), Argument::Live(root) | Argument::Old(root)) => {
                            self.passed(self.layout.roots[*root].of)
                        }
                        (Kind::Record(_), Argument::Result) => {
                            self.passed(self.function.function.signature.result)
                        }
                        _ => self.passed(parameter.of),
                    },
                )
                .collect();
            let parameters = match parameters.as_slice() {
                [] => "void".into(),
                some => some.join(", "),
            };
            let symbol = &call.function.name;
            let _ = writeln!(
                text,
                "\nextern {result} {alias}({parameters}) __asm__(\"{symbol}\");"
            );
        }
        for (number, root) in self.layout.roots.iter().enumerate() {
            if let Place::Foreign = root.place {
                let symbol = &root.name;
                let _ = writeln!(
                    text,
                    "extern unsigned char nm_harness_global{number}[] __asm__(\"{symbol}\");"
                );
            }
        }
    }

    /// Functions for function pointers: each call gives back an input, the last one again and again.
    pub(super) fn write_stubs(&self, text: &mut String) {
        for (number, stub) in self.layout.stubs.iter().enumerate() {
            let name = format!("nm_harness_stub{number}");
            let nameable = self.types.is_nameable(stub.of);
            let head = if nameable {
                self.types.declare(stub.of, &name)
            } else {
                format!("{} {name}()", self.stub_result(stub))
            };
            let head = numbered_parameters(self, stub, nameable, &head, &name);
            let _ = writeln!(text, "\n/* {} */\nstatic {PLAIN} {head}\n{{", stub.path);
            if let Some(root) = stub.root {
                let root_of = &self.layout.roots[root];
                let last = root_of.elements - 1;
                let size = self.types.size(root_of.of);
                let _ = writeln!(
                    text,
                    "    unsigned nm_harness_call = nm_harness_calls[{number}];"
                );
                let _ = writeln!(text, "    if (nm_harness_call < {last})");
                let _ = writeln!(text, "        nm_harness_calls[{number}]++;");
                let of = self.stub_result(stub);
                let _ = writeln!(
                    text,
                    "    return *({of} *)(nm_harness_object{root}[0] + nm_harness_call * {size}ul);"
                );
            }
            *text += "}\n";
        }
    }

    fn stub_result(&self, stub: &Stub) -> String {
        match self.types.kind(stub.signature.result) {
            Kind::Void => "void".into(),
            _ => self.passed(stub.signature.result),
        }
    }
}

/// The head of a stub: its parameters need names, which the type does not have.
fn numbered_parameters(plan: &Plan, stub: &Stub, nameable: bool, head: &str, name: &str) -> String {
    if !nameable {
        return head.to_string();
    }
    let mut signature = stub.signature.clone();
    for (place, parameter) in signature.parameters.iter_mut().enumerate() {
        parameter.name = format!("nm_harness_p{place}");
    }
    let parameters = plan.types.parameters(&signature);
    plan.types
        .declare(signature.result, &format!("{name}({parameters})"))
}
