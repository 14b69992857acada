//! What a stub gives back or writes, call by call: as a table of its own, or one that the test fills.

use nearmiss_results::Value;

use super::inputs::{Inputs, scalar};
use super::place::Place;
use super::scene::Scene;
use super::stubs::argument;
use super::wrap;
use crate::function::ctype;
use crate::function::value::without_repetition;

/// What a stub gives or writes: a row a call.
pub struct Table<'a> {
    /// The parameter that is written through, from 1; none: what is given back.
    pub parameter: Option<usize>,
    /// Its name in C.
    pub name: String,
    /// The type of an element.
    pub of: String,
    /// Rows in the order of calls; the last one stays.
    pub rows: &'a [Value],
}

impl Table<'_> {
    /// Whether it points to blocks of the test, which fills it then.
    pub fn is_shared(&self) -> bool {
        self.rows.iter().any(leads_to_block)
    }

    /// Whether it is one value, which is given back as it is.
    fn is_one(&self) -> bool {
        self.parameter.is_none() && self.rows.len() == 1 && !self.is_shared()
    }

    /// A table of the stub's own.
    pub fn declaration(&self, scene: &Scene<'_>) -> String {
        if self.is_one() {
            return String::new();
        }
        let rows: Vec<String> = self.rows.iter().map(|it| self.row(scene, it)).collect();
        let value = format!("{{{}}}", rows.join(", "));
        wrap::statement(&format!("{} = {value};", self.declared("")), "    ")
    }

    /// Its declaration without a value; `calls` are how many rows.
    pub fn declared(&self, calls: &str) -> String {
        match (self.parameter, self.rows.first()) {
            (Some(_), Some(Value::Array(elements))) => {
                let name = format!("{}[{calls}][{}]", self.name, elements.len());
                ctype::declare(&self.of, &name)
            }
            _ => ctype::declare(&self.of, &format!("{}[{calls}]", self.name)),
        }
    }

    /// A row as an initialiser.
    fn row(&self, scene: &Scene<'_>, row: &Value) -> String {
        match (self.parameter, row) {
            (Some(_), Value::Array(elements)) => {
                let elements: Vec<String> = (elements.iter())
                    .map(|it| constant(scene, it, &self.of))
                    .collect();
                format!("{{{}}}", elements.join(", "))
            }
            _ => constant(scene, row, &self.of),
        }
    }

    /// Statements that make a row what was recorded.
    pub fn fill(&self, inputs: &mut Inputs<'_>, row: &Value, place: &Place) {
        if let (Some(_), Value::Array(elements)) = (self.parameter, row) {
            for (index, element) in elements.iter().enumerate() {
                inputs.assign(element, &self.of, &place.element(index));
            }
        } else {
            inputs.assign(row, &self.of, place);
        }
    }

    /// What the stub does with it in a call; `last` is the last one that differs.
    pub fn use_of(&self, scene: &Scene<'_>, call: &str, last: usize) -> String {
        if self.is_one() {
            let value = constant(scene, &self.rows[0], &self.of);
            return match self.rows[0] {
                Value::Structure(_) => {
                    wrap::statement(&format!("return ({}){value};", self.of), "    ")
                }
                _ => format!("    return {value};\n"),
            };
        }
        let call = match self.rows.len() - 1 {
            0 => "0".to_string(),
            own if own == last => call.to_string(),
            own => format!("call < {own} ? call : {own}"),
        };
        let row = format!("{}[{call}]", self.name);
        match self.parameter.map(argument) {
            Some(pointer) => {
                let size = format!("sizeof {}[0]", self.name);
                let copy = format!("memcpy((void *){pointer}, {row}, {size});");
                format!("    if ({pointer})\n") + &wrap::statement(&copy, "        ")
            }
            None => format!("    return {row};\n"),
        }
    }
}

/// What was recorded in its order, up to what stays.
pub fn rows(value: &Value) -> &[Value] {
    match value {
        Value::Array(items) => without_repetition(items),
        value => std::slice::from_ref(value),
    }
}

fn leads_to_block(value: &Value) -> bool {
    match value {
        Value::Pointer { .. } => true,
        Value::Structure(members) => members.iter().any(|(_, it)| leads_to_block(it)),
        Value::Array(items) => items.iter().any(leads_to_block),
        _ => false,
    }
}

/// A value as an initialiser.
fn constant(scene: &Scene<'_>, value: &Value, ctype: &str) -> String {
    let braced = |parts: Vec<String>| format!("{{{}}}", parts.join(", "));
    match value {
        Value::Structure(members) => {
            let named = members.iter().filter(|(name, _)| !name.is_empty());
            let parts =
                named.map(|(name, value)| format!(".{name} = {}", constant(scene, value, "")));
            braced(parts.collect())
        }
        Value::Array(items) => braced(items.iter().map(|it| constant(scene, it, "")).collect()),
        value => scalar(scene, value, ctype),
    }
}
