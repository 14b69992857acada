//! Writes calls and their arguments, and declarations of what lies in other files.

use std::fmt::Write;

use crate::model::Place;
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
            Argument::Extent(extent) => return extent.text(&self.layout),
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
    pub(super) fn passed(&self, of: TypeId) -> String {
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
}
