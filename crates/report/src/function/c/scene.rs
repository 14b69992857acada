//! The names of one test, and the expressions that lead to its blocks.

use std::collections::{BTreeMap, BTreeSet};

use nearmiss_results::{Block, FunctionReport, Memory, PathTest, Role, Value};

use super::place::Place;
use crate::function::ctype;

/// Names that mean something to C or to what a test includes.
const TAKEN: &[&str] = &[
    "NULL", "abort", "assert", "auto", "break", "case", "char", "const", "continue", "default",
    "do", "double", "else", "enum", "exit", "extern", "float", "for", "fork", "free", "goto", "if",
    "inline", "int", "long", "main", "malloc", "memcmp", "memcpy", "printf", "register",
    "restrict", "return", "short", "signed", "sizeof", "state", "static", "strcmp", "struct",
    "switch", "typedef", "union", "unsigned", "void", "volatile", "while",
];

/// What one test calls its things.
#[derive(Debug)]
pub struct Scene<'a> {
    /// The test.
    pub test: &'a PathTest,
    /// Its function's name: `test_merge_1`.
    pub name: String,
    /// What the function under test gives back.
    pub result: String,
    /// Whether blocks come from `malloc`, because the function frees some of them.
    pub heap: bool,
    /// The names of the blocks that the function is given; none if no pointer leads there.
    blocks: Vec<Option<String>>,
    /// The local variables of parameters that are no simple expression.
    locals: BTreeMap<String, String>,
    /// The functions that stand for stubs.
    stubs: BTreeMap<String, String>,
    /// Pointer expressions to the blocks that the function made.
    made: BTreeMap<usize, String>,
    taken: BTreeSet<String>,
}

impl<'a> Scene<'a> {
    /// Decides on names.
    pub fn new(report: &FunctionReport, test: &'a PathTest) -> Scene<'a> {
        let mut scene = Scene {
            test,
            name: format!("test_{}_{}", report.function, test.number),
            result: String::new(),
            heap: is_on_heap(report, test),
            blocks: Vec::new(),
            locals: BTreeMap::new(),
            stubs: BTreeMap::new(),
            made: BTreeMap::new(),
            taken: words_in_use(report, test),
        };
        scene.result = scene.fresh("result");
        let reachable = reachable(&test.before);
        for (block, is_reachable) in test.before.blocks.iter().zip(reachable) {
            let name = is_reachable.then(|| scene.fresh(&block.name));
            scene.blocks.push(name);
        }
        for variable in &test.before.variables {
            if variable.role == Role::Stub {
                let name = scene.fresh(&format!("{}_{}", scene.name, variable.name));
                scene.stubs.insert(variable.name.clone(), name);
            }
            let is_whole = matches!(
                variable.value,
                Value::Structure(_) | Value::Array(_) | Value::Bytes(_)
            );
            if variable.role == Role::Parameter && is_whole {
                let name = scene.fresh(&variable.name);
                scene.locals.insert(variable.name.clone(), name);
            }
        }
        scene.find_made();
        scene
    }

    /// A name like this one that nothing else has.
    pub fn fresh(&mut self, wanted: &str) -> String {
        let mut base = String::new();
        for character in wanted.chars() {
            match character {
                'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => base.push(character),
                _ if base.ends_with('_') || base.is_empty() => {}
                _ => base.push('_'),
            }
        }
        let mut base = base.trim_end_matches('_').to_string();
        if base.is_empty() || base.starts_with(|first: char| first.is_ascii_digit()) {
            base.insert_str(0, "input");
        }
        let mut name = base.clone();
        let mut count = 1;
        while !self.taken.insert(name.clone()) {
            count += 1;
            name = format!("{base}_{count}");
        }
        name
    }

    /// The name of a block that the function is given.
    pub fn block_name(&self, block: usize) -> Option<&str> {
        self.blocks.get(block)?.as_deref()
    }

    /// The local variable of a parameter.
    pub fn local(&self, parameter: &str) -> Option<&str> {
        self.locals.get(parameter).map(String::as_str)
    }

    /// What a pointer to a function points to in this test.
    pub fn function<'s>(&'s self, name: &'s str) -> &'s str {
        self.stubs.get(name).map_or(name, String::as_str)
    }

    /// A pointer to an element of a block, if there is a way to write it.
    pub fn pointer(&self, block: usize, index: u64) -> Option<String> {
        let base = match (self.block_name(block), self.test.before.blocks.get(block)) {
            (Some(name), Some(content)) if is_raw(content) => format!("(void *){name}"),
            (Some(name), Some(content)) if is_one(content) && !self.heap => format!("&{name}"),
            (Some(name), _) => name.to_string(),
            _ => self.made.get(&block)?.clone(),
        };
        match index {
            0 => Some(base),
            index => Some(format!("{base} + {index}")),
        }
    }

    /// Where the content of a block lies, if there is a way to write it.
    pub fn place(&self, block: usize) -> Option<Place> {
        match (self.block_name(block), self.test.before.blocks.get(block)) {
            (Some(name), Some(content)) if is_one(content) && self.heap => {
                Some(Place::Behind(name.to_string()))
            }
            (Some(name), _) => Some(Place::Object(name.to_string())),
            _ => self.made.get(&block).cloned().map(Place::Behind),
        }
    }

    /// Follows pointers in what the function left, from what has a name to what it made itself.
    fn find_made(&mut self) {
        let Some(after) = &self.test.after else {
            return;
        };
        let given = self.blocks.len();
        let mut next: Vec<(Place, &Value)> = Vec::new();
        for variable in &after.variables {
            match variable.role {
                Role::Result => next.push((Place::Object(self.result.clone()), &variable.value)),
                Role::Global => next.push((Place::Object(variable.name.clone()), &variable.value)),
                Role::Parameter | Role::Stub | Role::Written | Role::Told => {}
            }
        }
        for (number, block) in after.blocks.iter().enumerate().take(given) {
            if let (Some(place), false) = (self.place(number), block.freed) {
                next.push(content_of(block, place));
            }
        }
        next.reverse();
        while let Some((place, value)) = next.pop() {
            match value {
                Value::Structure(members) => {
                    let inner = members.iter().rev();
                    next.extend(inner.map(|(name, value)| (place.member(name), value)));
                }
                Value::Array(items) => {
                    let inner = items.iter().enumerate().rev();
                    next.extend(inner.map(|(index, item)| (place.element(index), item)));
                }
                Value::Pointer { block, index: 0 } if *block >= given => {
                    let Some(target) = after.blocks.get(*block) else {
                        continue;
                    };
                    if !target.freed && !self.made.contains_key(block) {
                        let pointer = place.value();
                        self.made.insert(*block, pointer.clone());
                        next.insert(0, content_of(target, Place::Behind(pointer)));
                    }
                }
                _ => {}
            }
        }
    }
}

/// The content of a block and its place: a single structure is its only element.
pub fn content_of(block: &Block, place: Place) -> (Place, &Value) {
    match &block.content {
        Value::Array(items) if is_one(block) => (place, &items[0]),
        content => (place, content),
    }
}

/// Whether a block is declared without brackets: one structure.
pub fn is_one(block: &Block) -> bool {
    matches!(&block.content, Value::Array(items) if matches!(items.as_slice(), [Value::Structure(_)]))
}

/// Whether a block is declared as bytes, for want of a better form.
pub fn is_raw(block: &Block) -> bool {
    matches!(block.content, Value::Bytes(_))
}

/// Which blocks a pointer leads to.
fn reachable(memory: &Memory) -> Vec<bool> {
    let mut reachable = vec![false; memory.blocks.len()];
    let mut next: Vec<&Value> = memory.variables.iter().map(|it| &it.value).collect();
    while let Some(value) = next.pop() {
        match value {
            Value::Structure(members) => next.extend(members.iter().map(|(_, value)| value)),
            Value::Array(items) => next.extend(items),
            Value::Pointer { block, .. } if reachable.get(*block) == Some(&false) => {
                reachable[*block] = true;
                next.push(&memory.blocks[*block].content);
            }
            _ => {}
        }
    }
    reachable
}

/// A test that did not return is treated like its neighbours.
fn is_on_heap(report: &FunctionReport, test: &PathTest) -> bool {
    let frees = |memory: &Memory| memory.blocks.iter().any(|block| block.freed);
    match &test.after {
        Some(after) => frees(after),
        None => report
            .tests
            .iter()
            .filter_map(|other| other.after.as_ref())
            .any(frees),
    }
}

/// Names that a local variable would hide: the function, globals, enumerators, types.
fn words_in_use(report: &FunctionReport, test: &PathTest) -> BTreeSet<String> {
    let mut taken: BTreeSet<String> = TAKEN.iter().map(|word| word.to_string()).collect();
    taken.insert(report.function.clone());
    for memory in std::iter::once(&test.before).chain(&test.after) {
        for variable in &memory.variables {
            taken.extend(ctype::words(&variable.ctype).into_iter().map(String::from));
            if matches!(variable.role, Role::Global) {
                taken.insert(variable.name.clone());
            }
            take_names(&variable.value, &mut taken);
        }
        for block in &memory.blocks {
            taken.extend(ctype::words(&block.element).into_iter().map(String::from));
            take_names(&block.content, &mut taken);
        }
    }
    taken
}

fn take_names(value: &Value, taken: &mut BTreeSet<String>) {
    match value {
        Value::Integer {
            name: Some(name), ..
        }
        | Value::Function(name) => {
            taken.insert(name.clone());
        }
        Value::Structure(members) => members.iter().for_each(|(_, it)| take_names(it, taken)),
        Value::Array(items) => items.iter().for_each(|it| take_names(it, taken)),
        _ => {}
    }
}
