//! What stands before the call: blocks, locals, globals.

use nearmiss_results::{Block, FunctionReport, Role, Value, Variable};

use super::place::Place;
use super::scene::{Scene, content_of, is_raw};
use super::{literal, stubs};
use crate::function::ctype;

/// The statements that build an input, in their order.
#[derive(Debug)]
pub struct Inputs<'s> {
    pub(super) scene: &'s Scene<'s>,
    /// Which blocks are declared.
    declared: Vec<bool>,
    /// Which blocks are about to be: a pointer back to one is assigned later.
    open: Vec<bool>,
    pub(super) statements: Vec<String>,
    /// What an initialiser cannot say: assigned when everything is declared.
    later: Vec<String>,
}

impl<'s> Inputs<'s> {
    /// All statements.
    pub fn statements(scene: &'s Scene<'s>, report: &FunctionReport) -> Vec<String> {
        let count = scene.test.before.blocks.len();
        let mut inputs = Inputs {
            scene,
            declared: vec![scene.heap; count],
            open: vec![false; count],
            statements: Vec::new(),
            later: Vec::new(),
        };
        match scene.heap {
            true => inputs.allocate(),
            false => (0..count).for_each(|block| inputs.declare(block)),
        }
        for variable in &scene.test.before.variables {
            match variable.role {
                Role::Parameter => inputs.local(variable),
                Role::Global => inputs.global(variable),
                Role::Stub | Role::Written | Role::Result | Role::Told => {}
            }
        }
        stubs::statements(&mut inputs, report);
        inputs.statements.append(&mut inputs.later);
        inputs.statements
    }

    /// A block as a variable, behind the blocks that it points to.
    fn declare(&mut self, number: usize) {
        if self.declared[number] || self.open[number] {
            return;
        }
        let block = &self.scene.test.before.blocks[number];
        self.open[number] = true;
        let mut targets = Vec::new();
        collect_targets(&block.content, &mut targets);
        targets.into_iter().for_each(|target| {
            if target < self.declared.len() {
                self.declare(target);
            }
        });
        let (Some(name), Some(place)) = (self.scene.block_name(number), self.scene.place(number))
        else {
            return;
        };
        let waiting = self.later.len();
        let (place, content) = content_of(block, place);
        let value = match content {
            Value::Array(items) if items.is_empty() => Some("{0}".to_string()),
            Value::Bytes(bytes) => Some(braced(bytes)),
            content => self.initialiser(content, &block.element, &place),
        };
        // What is assigned later is not constant.
        let element = element_type(block, self.later.len() > waiting);
        let declared = match content {
            Value::Structure(_) => ctype::declare(&element, name),
            Value::Text(_) => ctype::declare(&element, &format!("{name}[]")),
            Value::Bytes(bytes) => {
                format!("_Alignas(16) unsigned char {name}[{}]", bytes.len().max(1))
            }
            _ => ctype::declare(&element, &format!("{name}[{}]", count(block))),
        };
        let remark = match content {
            Value::Array(items) if items.is_empty() => " /* no elements */",
            _ => "",
        };
        let value = value.map_or(String::new(), |value| format!(" = {value}"));
        self.statements.push(format!("{declared}{value};{remark}"));
        self.declared[number] = true;
    }

    /// A parameter that is passed as a whole.
    fn local(&mut self, variable: &Variable) {
        let Some(name) = self.scene.local(&variable.name) else {
            return;
        };
        let element = ctype::unqualified(&variable.ctype);
        let declared = ctype::declare(&element, name);
        let place = Place::Object(name.to_string());
        let value = self.initialiser(&variable.value, &variable.ctype, &place);
        let value = value.map_or(String::new(), |value| format!(" = {value}"));
        self.statements.push(format!("{declared}{value};"));
    }

    fn global(&mut self, variable: &Variable) {
        let name = &variable.name;
        let place = Place::Object(name.clone());
        let Some(value) = self.initialiser(&variable.value, &variable.ctype, &place) else {
            return;
        };
        let statement = match &variable.value {
            Value::Structure(_) | Value::Array(_) | Value::Text(_) => {
                format!("memcpy((void *)&{name}, &(__typeof__({name})){value}, sizeof {name});")
            }
            _ => format!("{name} = {value};"),
        };
        self.statements.push(statement);
    }

    /// Makes what is there already this value.
    pub(super) fn assign(&mut self, value: &Value, ctype: &str, place: &Place) {
        let Some(text) = self.initialiser(value, ctype, place) else {
            return;
        };
        let target = place.value();
        let statement = match value {
            Value::Structure(_) => format!("{target} = ({ctype}){text};"),
            Value::Array(_) => {
                format!("memcpy({target}, (__typeof__({target})){text}, sizeof {target});")
            }
            _ => format!("{target} = {text};"),
        };
        self.statements.push(statement);
    }

    /// What stands behind the `=` of a declaration; `None` if all of it is assigned later.
    pub(super) fn initialiser(
        &mut self,
        value: &Value,
        ctype: &str,
        place: &Place,
    ) -> Option<String> {
        match value {
            Value::Structure(members) => Some(self.members(members, place)),
            Value::Array(items) => self.items(items, ctype, place),
            Value::Bytes(bytes) => {
                self.later.push(copy(&place.address(), bytes));
                None
            }
            Value::Pointer { block, index } => {
                let target = self.scene.pointer(*block, *index)?;
                if self.declared.get(*block) == Some(&true) {
                    return Some(target);
                }
                self.later.push(format!("{} = {target};", place.value()));
                None
            }
            value => Some(scalar(self.scene, value, ctype)),
        }
    }

    fn members(&mut self, members: &[(String, Value)], place: &Place) -> String {
        let mut parts = Vec::new();
        for (name, value) in members {
            let place = place.member(name);
            let inner = self.initialiser(value, "", &place);
            match (inner, name.as_str()) {
                (None, _) => {}
                // The members of an anonymous structure are named as if they were the outer's.
                (Some(inner), "") => parts.extend(unbraced(&inner)),
                (Some(inner), name) => parts.push(format!(".{name} = {inner}")),
            }
        }
        match parts.is_empty() {
            true => "{0}".into(),
            false => format!("{{{}}}", parts.join(", ")),
        }
    }

    fn items(&mut self, items: &[Value], ctype: &str, place: &Place) -> Option<String> {
        let ctype = ctype::of_element(ctype);
        let parts: Vec<Option<String>> = items
            .iter()
            .enumerate()
            .map(|(index, item)| self.initialiser(item, ctype, &place.element(index)))
            .collect();
        if parts.iter().all(Option::is_none) {
            return None;
        }
        let is_whole = parts.iter().all(Option::is_some);
        let shown = parts.into_iter().enumerate().filter_map(|(index, part)| {
            let part = part?;
            Some(match is_whole {
                true => part,
                false => format!("[{index}] = {part}"),
            })
        });
        Some(format!("{{{}}}", shown.collect::<Vec<_>>().join(", ")))
    }
}

/// An expression for what needs no variable.
pub fn scalar(scene: &Scene<'_>, value: &Value, ctype: &str) -> String {
    match value {
        Value::Integer { value, name } => literal::integer(*value, name.as_deref(), ctype),
        Value::Float { size, bits } => literal::float(*size, *bits),
        Value::Text(text) => literal::string(text),
        Value::Function(name) => scene.function(name).to_string(),
        _ => "NULL".into(),
    }
}

/// The type of the elements of a block as they are declared.
pub fn element_type(block: &Block, is_assigned: bool) -> String {
    match (is_raw(block), block.constant && !is_assigned) {
        (true, _) => "unsigned char".into(),
        (_, true) => block.element.clone(),
        (_, false) => ctype::unqualified(&block.element),
    }
}

/// Elements that are declared: at least one, as C has no arrays without.
pub fn count(block: &Block) -> usize {
    match &block.content {
        Value::Array(items) => items.len().max(1),
        Value::Text(text) => text.len() + 1,
        Value::Bytes(bytes) => bytes.len().max(1),
        _ => 1,
    }
}

pub fn copy(to: &str, bytes: &[u8]) -> String {
    format!("memcpy({to}, {}, {});", literal::string(bytes), bytes.len())
}

fn braced(bytes: &[u8]) -> String {
    let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:#04x}")).collect();
    match digits.is_empty() {
        true => "{0}".into(),
        false => format!("{{{}}}", digits.join(", ")),
    }
}

fn unbraced(initialiser: &str) -> Option<String> {
    let inner = initialiser.strip_prefix('{')?.strip_suffix('}')?;
    inner.starts_with('.').then(|| inner.to_string())
}

fn collect_targets(value: &Value, targets: &mut Vec<usize>) {
    match value {
        Value::Pointer { block, .. } => targets.push(*block),
        Value::Structure(members) => members
            .iter()
            .for_each(|(_, it)| collect_targets(it, targets)),
        Value::Array(items) => items.iter().for_each(|it| collect_targets(it, targets)),
        _ => {}
    }
}
