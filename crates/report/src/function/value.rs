//! Values of C programs in a short form: `t1={1,2} n1=2`, `list={3 → {5 → NULL}}`.
//!
//! What a pointer points to is shown where it is met first, later only by its name: that is how
//! aliases are seen.

use std::collections::BTreeSet;

use nearmiss_results::{Memory, Role, Value, Variable};

use crate::escape;
use crate::function::ctype;
use crate::text::Detail;

/// So many equal elements in a row are shown as one.
const RUN: usize = 4;

/// The values of one memory, as they are shown one after the other.
#[derive(Debug)]
pub struct Short<'a> {
    memory: &'a Memory,
    detail: Detail,
    /// Which blocks have been shown.
    seen: Vec<bool>,
    /// Among them what stubs give back.
    stubs: &'a [Variable],
    /// Which stubs have been shown.
    seen_stubs: BTreeSet<&'a str>,
}

impl<'a> Short<'a> {
    /// Nothing is shown yet.
    pub fn new(memory: &'a Memory, detail: Detail) -> Short<'a> {
        let seen = vec![false; memory.blocks.len()];
        Short {
            memory,
            detail,
            seen,
            stubs: &memory.variables,
            seen_stubs: BTreeSet::new(),
        }
    }

    /// What stubs give back stands among the inputs: these.
    pub fn with_stubs_of(mut self, before: &'a Memory) -> Short<'a> {
        self.stubs = &before.variables;
        self
    }

    /// Whether a stub was shown where a pointer leads to it.
    pub fn has_shown_stub(&self, name: &str) -> bool {
        self.seen_stubs.contains(name)
    }

    /// The first `count` blocks are known: they are shown by their names.
    pub fn knowing(mut self, count: usize) -> Short<'a> {
        self.seen.iter_mut().take(count).for_each(|it| *it = true);
        self
    }

    /// `n1=2`.
    pub fn variable(&mut self, variable: &Variable) -> String {
        let name = escape::text(&variable.name);
        if variable.role == Role::Stub {
            return format!("{name}={}", self.stub(variable));
        }
        if let (Role::Written, Value::Array(calls)) = (variable.role, &variable.value) {
            return format!("{name}={}", self.array(without_repetition(calls), ""));
        }
        format!("{name}={}", self.typed(&variable.value, &variable.ctype))
    }

    /// A value whose type is known: characters are shown as such.
    pub fn typed(&mut self, value: &Value, ctype: &str) -> String {
        match value {
            Value::Integer { value, name: None } if ctype::is_character(ctype) => character(*value),
            Value::Array(items) => self.array(items, ctype::of_element(ctype)),
            _ => self.value(value),
        }
    }

    fn value(&mut self, value: &Value) -> String {
        match value {
            Value::Integer {
                name: Some(name), ..
            } => escape::text(name),
            Value::Integer { value, .. } => value.to_string(),
            Value::Float { size: 4, bits } => float(f32::from_bits(*bits as u32).into()),
            Value::Float { bits, .. } => float(f64::from_bits(*bits)),
            Value::Structure(members) => self.structure(members),
            Value::Array(items) => self.array(items, ""),
            Value::Text(bytes) => self.text(bytes),
            Value::Null => "NULL".into(),
            Value::Pointer { block, index } => self.pointer(*block, *index),
            Value::Elsewhere => "another address".into(),
            Value::Unset => "unset".into(),
            Value::Function(name) => self.function(name),
            Value::Bytes(bytes) => self.bytes(bytes),
        }
    }

    fn function(&mut self, name: &str) -> String {
        let is_stub = |it: &&Variable| it.role == Role::Stub && it.name == name;
        match self.stubs.iter().find(is_stub) {
            Some(stub) => {
                self.seen_stubs.insert(&stub.name);
                self.stub(stub)
            }
            None => escape::text(name),
        }
    }

    /// `stub(3,-1)`: what it gives back, the last for all calls that follow.
    fn stub(&mut self, stub: &Variable) -> String {
        let Value::Array(results) = &stub.value else {
            return "stub".into();
        };
        let results = self.array(without_repetition(results), "");
        let inner = results
            .strip_prefix('{')
            .and_then(|it| it.strip_suffix('}'));
        format!("stub({})", inner.unwrap_or(&results))
    }

    /// A node of a list is its values and an arrow, one of a tree its values and what hangs on it;
    /// everything else has names.
    fn structure(&mut self, members: &[(String, Value)]) -> String {
        let links = members.iter().filter(|(_, value)| is_link(value)).count();
        let is_list = links == 1 && members.last().is_some_and(|(_, it)| self.is_next(it));
        let is_bare = (is_list || links > 1) && members.len() == links + 1;
        let mut parts = Vec::new();
        for (name, value) in members {
            if links > 1 && *value == Value::Null {
                continue;
            }
            let text = self.value(value);
            parts.push(match is_link(value) {
                true if is_list => format!("→ {text}"),
                false if is_bare || name.is_empty() => text,
                _ => format!("{}={text}", escape::text(name)),
            });
        }
        format!("{{{}}}", parts.join(" "))
    }

    /// Whether a pointer can be that to the next node of a list.
    fn is_next(&self, value: &Value) -> bool {
        match value {
            Value::Pointer { block, .. } => match self.memory.blocks.get(*block) {
                Some(target) => matches!(&target.content,
                    Value::Array(items) if matches!(items.as_slice(), [Value::Structure(_)])),
                None => false,
            },
            value => is_link(value),
        }
    }

    fn array(&mut self, items: &[Value], ctype: &str) -> String {
        let most = self.elements();
        let mut parts: Vec<String> = Vec::new();
        let mut done = 0;
        for run in items.chunk_by(|left, right| left == right) {
            if parts.len() >= most {
                parts.push(format!("… {} more", items.len() - done));
                break;
            }
            let is_plain = matches!(
                run[0],
                Value::Integer { .. } | Value::Float { .. } | Value::Unset
            );
            if run.len() > RUN && is_plain {
                parts.push(format!("{}×{}", self.typed(&run[0], ctype), run.len()));
                done += run.len();
                continue;
            }
            for item in run.iter().take(most - parts.len()) {
                parts.push(self.typed(item, ctype));
                done += 1;
            }
        }
        format!("{{{}}}", parts.join(","))
    }

    fn pointer(&mut self, block: usize, index: u64) -> String {
        let offset = match index {
            0 => String::new(),
            index => format!("+{index}"),
        };
        let Some(target) = self.memory.blocks.get(block) else {
            return "another address".into();
        };
        if target.freed {
            return format!("freed {}{offset}", escape::text(&target.name));
        }
        if std::mem::replace(&mut self.seen[block], true) {
            return format!("{}{offset}", escape::text(&target.name));
        }
        let content = match &target.content {
            Value::Array(items) => match items.as_slice() {
                [one @ Value::Structure(_)] => self.value(one),
                items => self.array(items, &target.element),
            },
            content => self.value(content),
        };
        content + &offset
    }

    fn text(&self, bytes: &[u8]) -> String {
        let most = self.elements() * 4;
        match bytes.get(..most) {
            Some(start) if bytes.len() > most => {
                format!("{}… {} more", escape::bytes(start), bytes.len() - most)
            }
            _ => escape::bytes(bytes),
        }
    }

    fn bytes(&self, bytes: &[u8]) -> String {
        let most = self.elements() * 2;
        match bytes.get(..most) {
            Some(start) if bytes.len() > most => {
                format!("<{} … {} more>", escape::hex(start), bytes.len() - most)
            }
            _ => format!("<{}>", escape::hex(bytes)),
        }
    }

    /// Most elements of an array that are shown.
    fn elements(&self) -> usize {
        match self.detail {
            Detail::Brief => 12,
            Detail::Full => 4096,
        }
    }
}

/// The results of a stub up to the one that stays: the last is given back again and again.
pub fn without_repetition(results: &[Value]) -> &[Value] {
    let same = results
        .iter()
        .rev()
        .take_while(|it| Some(*it) == results.last());
    let repeated = same.count().saturating_sub(1);
    &results[..results.len() - repeated]
}

fn is_link(value: &Value) -> bool {
    matches!(
        value,
        Value::Pointer { .. } | Value::Null | Value::Elsewhere
    )
}

fn character(value: i128) -> String {
    match u8::try_from(value) {
        Ok(byte) if byte.is_ascii_graphic() || byte == b' ' => {
            format!("'{}'", byte.escape_ascii())
        }
        _ => value.to_string(),
    }
}

fn float(value: f64) -> String {
    match value.is_nan() {
        true => "nan".into(),
        false => format!("{value:?}"),
    }
}

#[cfg(test)]
mod tests;
