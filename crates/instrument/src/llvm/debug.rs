//! What debug information says of functions: the file they are in, and the types of their parameters.

use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::*;

use super::{Module, Value};

/// A type of the source, as far as a boundary wants to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceType {
    /// A number of so many bytes.
    Integer(u64),
    /// One of a few names for numbers.
    Enumeration,
    /// A pointer to numbers of so many bytes each; whether they are constant.
    Numbers {
        /// Bytes of an element; 0 for `void`.
        size: u64,
        /// Whether the function promises not to change them.
        is_constant: bool,
    },
    /// A list of arguments, as `vprintf` has it.
    ArgumentList,
    /// Anything else.
    Other,
}

/// A number in a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// How it is written behind a variable of the structure and a dot.
    pub name: String,
    /// Where it lies, in bytes.
    pub offset: u64,
    /// Its bytes.
    pub size: u64,
    /// Whether it may be negative.
    pub is_signed: bool,
}

/// A node of debug information.
#[derive(Clone, Copy)]
struct Node {
    node: LLVMMetadataRef,
    context: LLVMContextRef,
}

const POINTER: u16 = 0x0f;
const TYPEDEF: u16 = 0x16;
const CONSTANT: u16 = 0x26;
const VOLATILE: u16 = 0x35;
const RESTRICT: u16 = 0x37;
const BASE: u16 = 0x24;
const ENUMERATION: u16 = 0x04;
const ARRAY: u16 = 0x01;
const MEMBER: u16 = 0x0d;
const STRUCTURE: u16 = 0x13;

/// Where LLVM keeps the type of a function, the types of its parameters, and what a type is made of.
const FUNCTION_TYPE: usize = 4;
const PARAMETER_TYPES: usize = 3;
const BASE_TYPE: usize = 3;
const ELEMENTS: usize = 4;

/// The structure that a `va_list` is one of.
const ARGUMENT_LIST: &str = "__va_list_tag";

impl Node {
    fn operands(self) -> Vec<Option<Node>> {
        unsafe {
            let value = LLVMMetadataAsValue(self.context, self.node);
            let mut operands = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(value) as usize];
            LLVMGetMDNodeOperands(value, operands.as_mut_ptr());
            let node = |operand: LLVMValueRef| {
                (!operand.is_null()).then(|| Node {
                    node: LLVMValueAsMetadata(operand),
                    context: self.context,
                })
            };
            operands.into_iter().map(node).collect()
        }
    }

    fn operand(self, index: usize) -> Option<Node> {
        self.operands().get(index).copied().flatten()
    }

    fn tag(self) -> u16 {
        unsafe { LLVMGetDINodeTag(self.node) }
    }

    fn bytes(self) -> u64 {
        unsafe { LLVMDITypeGetSizeInBits(self.node) / 8 }
    }

    fn name(self) -> String {
        let mut size = 0;
        text(unsafe { LLVMDITypeGetName(self.node, &mut size) }, size)
    }

    /// The type behind its names and qualifiers; whether it is constant. `None` is `void`.
    fn plain(mut self) -> (Option<Node>, bool) {
        let mut is_constant = false;
        while matches!(self.tag(), TYPEDEF | CONSTANT | VOLATILE | RESTRICT) {
            is_constant |= self.tag() == CONSTANT;
            match self.operand(BASE_TYPE) {
                Some(base) => self = base,
                None => return (None, is_constant),
            }
        }
        (Some(self), is_constant)
    }

    fn is_number(self) -> bool {
        let name = self.name();
        let is_whole =
            !name.contains("float") && !name.contains("double") && !name.contains("omplex");
        self.tag() == ENUMERATION || (self.tag() == BASE && is_whole)
    }

    /// The structure that a pointer leads to.
    fn structure(self) -> Option<Node> {
        let pointer = self.plain().0.filter(|it| it.tag() == POINTER)?;
        let target = pointer.operand(BASE_TYPE)?.plain().0?;
        (target.tag() == STRUCTURE).then_some(target)
    }

    /// Adds the numbers of a structure that starts at an offset. What only some values are meant for (truth values,
    /// enumerations, bit fields) and what has more than one meaning (unions, arrays) is left out.
    fn add_fields(self, prefix: &str, start: u64, fields: &mut Vec<Field>) {
        let members = self.operand(ELEMENTS).map_or_else(Vec::new, Node::operands);
        for member in members.into_iter().flatten() {
            let (bits, flags) = unsafe {
                let bits = LLVMDITypeGetOffsetInBits(member.node);
                (bits, LLVMDITypeGetFlags(member.node))
            };
            let is_bit_field = flags & LLVMDIFlagBitField != 0;
            if member.tag() != MEMBER || is_bit_field || member.name().is_empty() {
                continue;
            }
            let Some(ty) = member.operand(BASE_TYPE).and_then(|ty| ty.plain().0) else {
                continue;
            };
            let name = format!("{prefix}{}", member.name());
            let offset = start + bits / 8;
            match ty.tag() {
                STRUCTURE => ty.add_fields(&format!("{name}."), offset, fields),
                BASE if ty.is_number() && !ty.name().contains("ool") => fields.push(Field {
                    name,
                    offset,
                    size: ty.bytes(),
                    is_signed: !ty.name().contains("unsigned"),
                }),
                _ => {}
            }
        }
    }

    fn source_type(self) -> SourceType {
        let (Some(plain), _) = self.plain() else {
            return SourceType::Other;
        };
        if plain.tag() == ENUMERATION {
            return SourceType::Enumeration;
        }
        let is_list = |it: Option<Node>| it.is_some_and(|it| it.name() == ARGUMENT_LIST);
        if is_list(self.structure()) || plain.tag() == ARRAY && is_list(plain.operand(BASE_TYPE)) {
            return SourceType::ArgumentList;
        }
        if plain.is_number() {
            return SourceType::Integer(plain.bytes());
        }
        if plain.tag() != POINTER {
            return SourceType::Other;
        }
        let (target, is_constant) = match plain.operand(BASE_TYPE) {
            Some(target) => target.plain(),
            None => (None, false),
        };
        match target {
            None => SourceType::Numbers {
                size: 0,
                is_constant,
            },
            Some(target) if target.is_number() => SourceType::Numbers {
                size: target.bytes(),
                is_constant,
            },
            Some(_) => SourceType::Other,
        }
    }
}

impl Module {
    /// The types of a function's parameters in the source; `None` if that is not known, or if they are not
    /// passed one by one.
    pub fn source_types(&self, function: Value) -> Option<Vec<SourceType>> {
        let types = self.parameter_types(function)?;
        let known = |node: &Option<Node>| node.map_or(SourceType::Other, Node::source_type);
        Some(types.iter().map(known).collect())
    }

    /// The numbers in the structure that a parameter of a function leads to; none if it leads to none.
    pub fn source_fields(&self, function: Value, parameter: usize) -> Vec<Field> {
        let mut fields = Vec::new();
        let types = self.parameter_types(function).unwrap_or_default();
        let structure = types.get(parameter).copied().flatten();
        if let Some(structure) = structure.and_then(Node::structure) {
            structure.add_fields("", 0, &mut fields);
        }
        fields
    }

    fn parameter_types(&self, function: Value) -> Option<Vec<Option<Node>>> {
        let subprogram = unsafe { LLVMGetSubprogram(function.0) };
        if subprogram.is_null() {
            return None;
        }
        let subprogram = Node {
            node: subprogram,
            context: self.context(),
        };
        let types = subprogram.operand(FUNCTION_TYPE)?;
        let types = types.operand(PARAMETER_TYPES)?.operands();
        // The first is that of the result; behind those of a variadic function stands one that is none.
        let parameters = types.get(1..)?;
        let count = function.parameters().len();
        let more = usize::from(function.global_value_type().is_variadic());
        (parameters.len() == count + more).then(|| parameters[..count].to_vec())
    }
}

impl Value {
    /// The file that a function is defined in: the compiler's directory, and the file's name. `None`
    /// without debug information.
    pub fn source_file(self) -> Option<(String, String)> {
        unsafe {
            let subprogram = LLVMGetSubprogram(self.0);
            if subprogram.is_null() {
                return None;
            }
            let file = LLVMDIScopeGetFile(subprogram);
            if file.is_null() {
                return None;
            }
            let mut size = 0;
            let directory = LLVMDIFileGetDirectory(file, &mut size);
            let directory = text(directory, size as usize);
            let name = LLVMDIFileGetFilename(file, &mut size);
            Some((directory, text(name, size as usize)))
        }
    }
}

fn text(start: *const std::ffi::c_char, size: usize) -> String {
    if start.is_null() || size == 0 {
        return String::new();
    }
    let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), size) };
    String::from_utf8_lossy(bytes).into_owned()
}
