//! Types as C writes them.

use crate::types::{Kind, Parameter, Record, Signature, TypeId, Types};

impl Types {
    /// The declaration of `name` with this type; of the type alone if the name is empty.
    pub fn declare(&self, id: TypeId, name: &str) -> String {
        let here = self.get(id);
        match &here.kind {
            Kind::Pointer(of) => {
                let binds_weaker =
                    matches!(self.get(*of).kind, Kind::Array(..) | Kind::Function(_));
                let star = if binds_weaker {
                    format!("(*{name})")
                } else {
                    format!("*{name}")
                };
                self.declare(*of, &star)
            }
            Kind::Array(of, count) => {
                let count = count.map(|count| count.to_string()).unwrap_or_default();
                self.declare(*of, &format!("{name}[{count}]"))
            }
            Kind::Function(signature) => {
                let parameters = self.parameters(signature);
                self.declare(signature.result, &format!("{name}({parameters})"))
            }
            Kind::Qualified(word, of) => match self.get(*of).kind {
                Kind::Pointer(_) => self.declare(*of, &joined(word, name)),
                _ => format!("{word} {}", self.declare(*of, name)),
            },
            _ => joined(&self.name(id), name),
        }
    }

    /// The type where no name is: `const struct list *`.
    pub fn spell(&self, id: TypeId) -> String {
        self.declare(id, "")
    }

    /// A function's parameters, between its parentheses.
    pub fn parameters(&self, signature: &Signature) -> String {
        let one = |parameter: &Parameter| self.declare(parameter.of, &parameter.name);
        let mut words: Vec<String> = signature.parameters.iter().map(one).collect();
        if signature.variadic {
            words.push("...".into());
        }
        if words.is_empty() && signature.prototyped {
            words.push("void".into());
        }
        words.join(", ")
    }

    fn name(&self, id: TypeId) -> String {
        let here = self.get(id);
        let word = match &here.kind {
            Kind::Record(Record { union: true, .. }) => "union ",
            Kind::Record(_) => "struct ",
            Kind::Enumeration(..) => "enum ",
            _ => "",
        };
        let name = here.name.as_deref().unwrap_or("{…}");
        format!("{word}{name}")
    }

    /// Whether the harness can write the type: all names in it are known in the first file.
    pub fn is_nameable(&self, id: TypeId) -> bool {
        let here = self.get(id);
        let known = here.name.is_some() && here.object == 0;
        match &here.kind {
            Kind::Pointer(of) | Kind::Array(of, _) | Kind::Qualified(_, of) => {
                self.is_nameable(*of)
            }
            Kind::Function(signature) => {
                let mut parameters = signature.parameters.iter();
                self.is_nameable(signature.result) && parameters.all(|p| self.is_nameable(p.of))
            }
            Kind::Record(_) | Kind::Enumeration(..) | Kind::Typedef(_) => known,
            Kind::Void | Kind::Integer(_) | Kind::Float => true,
            Kind::Opaque => false,
        }
    }
}

fn joined(word: &str, name: &str) -> String {
    if name.is_empty() {
        word.to_string()
    } else {
        format!("{word} {name}")
    }
}
