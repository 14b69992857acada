//! What debug information says about a program: functions, globals, types.

use crate::HarnessError;
use crate::dwarf;
use crate::type_reader::TypeReader;
use crate::types::{Signature, TypeId, Types};

/// What the debug information of a compiled file says: functions, globals, types.
#[derive(Clone, Debug)]
pub struct Unit {
    pub(crate) types: Types,
    pub(crate) functions: Vec<Function>,
    pub(crate) globals: Vec<Global>,
    /// Static variables inside functions: the function's name and theirs.
    pub(crate) locals: Vec<(String, String)>,
    objects: usize,
}

/// A function that an object defines.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub name: String,
    pub signature: Signature,
    /// Whether other files can call it.
    pub external: bool,
    /// Number of the object.
    pub object: usize,
    /// The file and line that it is defined at.
    pub place: Option<(String, u32)>,
}

/// A variable of static storage.
#[derive(Clone, Debug)]
pub(crate) struct Global {
    pub name: String,
    pub of: TypeId,
    /// Whether other files can name it.
    pub external: bool,
    /// Number of the object.
    pub object: usize,
    pub tags: Vec<String>,
}

/// What clang must be told for an object that [`Unit::read`] is to understand: functions and types
/// that nobody uses are wanted too.
pub const PROBE_FLAGS: &[&str] = &[
    "-g",
    "-O0",
    "-w",
    "-femit-all-decls",
    "-fno-eliminate-unused-debug-types",
];

impl Unit {
    /// Reads an object file that was compiled with [`PROBE_FLAGS`].
    pub fn read(object: &[u8]) -> Result<Unit, HarnessError> {
        let mut unit = Unit {
            types: Types::new(),
            functions: Vec::new(),
            globals: Vec::new(),
            locals: Vec::new(),
            objects: 0,
        };
        unit.add(object)?;
        Ok(unit)
    }

    /// Adds what another object of the program says: a precondition, an oracle or globals may lie
    /// there.
    pub fn add(&mut self, object: &[u8]) -> Result<(), HarnessError> {
        let entries = dwarf::entries(object)?;
        let mut reader = TypeReader::new(&entries, &mut self.types, self.objects);
        for entry in &entries {
            self.locals.extend(local(&entries, entry));
            let top = entry.parent.map(|parent| entries[parent].tag);
            if top != Some(gimli::DW_TAG_compile_unit.0) || entry.declaration {
                continue;
            }
            let more = entry.specification.map(|place| &entries[place]);
            let said = more.unwrap_or(entry);
            let Some(name) = said.name.clone() else {
                continue;
            };
            let external = said.external;
            let object = self.objects;
            match gimli::DwTag(entry.tag) {
                gimli::DW_TAG_subprogram => self.functions.push(Function {
                    name,
                    signature: reader.signature(said),
                    external,
                    object,
                    place: said.declared.clone().or_else(|| entry.declared.clone()),
                }),
                gimli::DW_TAG_variable => self.globals.push(Global {
                    name,
                    of: reader.of(said),
                    external,
                    object,
                    tags: reader.tags(said),
                }),
                _ => {}
            }
        }
        self.objects += 1;
        Ok(())
    }

    /// The function that has a static variable `name`, or `function.name`.
    pub(crate) fn function_of_local(&self, name: &str) -> Option<&str> {
        let is_it = |(function, variable): &&(String, String)| {
            variable == name || format!("{function}.{variable}") == name
        };
        self.locals
            .iter()
            .find(is_it)
            .map(|(function, _)| function.as_str())
    }

    /// The functions that the first file defines, in their order.
    pub fn functions(&self) -> Vec<String> {
        let here = self.functions.iter().filter(|f| f.object == 0);
        here.map(|function| function.name.clone()).collect()
    }

    /// The function with this name; that of the first file if several have one.
    pub(crate) fn function(&self, name: &str) -> Option<&Function> {
        self.functions
            .iter()
            .find(|function| function.name == name && (function.object == 0 || function.external))
    }

    /// The global with this name.
    pub(crate) fn global(&self, name: &str) -> Option<&Global> {
        let usable = |global: &&Global| global.object == 0 || global.external;
        self.globals.iter().filter(usable).find(|g| g.name == name)
    }
}

/// A static variable inside a function, and the function.
fn local(entries: &[dwarf::Entry], entry: &dwarf::Entry) -> Option<(String, String)> {
    if entry.tag != gimli::DW_TAG_variable.0 || !entry.is_static {
        return None;
    }
    let mut around = &entries[entry.parent?];
    while around.tag != gimli::DW_TAG_subprogram.0 {
        around = &entries[around.parent?];
    }
    Some((around.name.clone()?, entry.name.clone()?))
}
