//! What debug information says of functions: the file they are in, and the types of their parameters.

use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::*;

use super::{Module, Value};

/// A type of the source, as far as a boundary wants to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceType {
    /// A number (also an enumeration), so many bytes.
    Integer(u64),
    /// A pointer to numbers of so many bytes each; whether they are constant.
    Numbers {
        /// Bytes of an element; 0 for `void`.
        size: u64,
        /// Whether the function promises not to change them.
        is_constant: bool,
    },
    /// Anything else.
    Other,
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

/// Where LLVM keeps the type of a function, the types of its parameters, and what a type is made of.
const FUNCTION_TYPE: usize = 4;
const PARAMETER_TYPES: usize = 3;
const BASE_TYPE: usize = 3;

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

    fn source_type(self) -> SourceType {
        let (Some(plain), _) = self.plain() else {
            return SourceType::Other;
        };
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
        // The first is that of the result.
        let parameters = types.get(1..)?;
        let is_known = parameters.len() == function.parameters().len();
        is_known.then(|| {
            let known = |node: &Option<Node>| node.map_or(SourceType::Other, Node::source_type);
            parameters.iter().map(known).collect()
        })
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
